#include "common/config/settings_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

// The names are part of command lines and of numerics ids: whoever changes one changes both.
TEST(KernelChoices, AreThoseThatTheKernelsHave) {
  EXPECT_THAT(path_choices(), ElementsAre("auto", "portable", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx"));
  EXPECT_THAT(weights_choices(), ElementsAre("file", "bf16", "q8_0", "q4_0", "q4_1"));
}

TEST(KernelChoices, RefuseAPathThatTheCpuLacksByTheInstructionSetThatIsMissing) {
  const CpuFeatures haswell{.avx2 = true, .fma = true, .f16c = true};
  EXPECT_EQ(path_problem("--path", "avx512_vnni", haswell),
            "--path avx512_vnni needs AVX-512 F, which this CPU lacks; choose one of: auto, portable, avx2");
  EXPECT_EQ(path_problem("--path", "avx2", haswell), std::nullopt);
  Problems problems;
  problems.path("avx512", haswell);
  problems.path("avx2", haswell);
  EXPECT_THAT(problems.take(), ElementsAre(testing::HasSubstr("--path avx512 needs AVX-512 F")));
  EXPECT_EQ(path_problem("--path", "auto", {}), std::nullopt);
  for (const CpuPath path : available_cpu_paths()) EXPECT_EQ(path_problem("--path", name(path), this_cpu()), std::nullopt);
}

}  // namespace
}  // namespace slipstream
