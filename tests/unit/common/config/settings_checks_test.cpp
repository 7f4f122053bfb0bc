#include "common/config/settings_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

// The names are part of command lines and of numerics ids: whoever changes one changes both.
TEST(KernelChoices, AreThoseThatTheKernelsHave) {
  EXPECT_THAT(path_choices(),
              ElementsAre("auto", "portable", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx", "amx_bf16"));
  EXPECT_THAT(weights_choices(DeviceKind::cpu), ElementsAre("file", "bf16", "q8_0", "q4_0", "q4_1", "q5_1", "q6_k"));
}

TEST(Devices, AreRefusedWithSettingsThatTheyDoNotHave) {
  const auto problems = [](const char* device, const char* path, const char* weights, bool fast_rows, bool fine_rows = false) {
    Problems found;
    found.device({.device = device, .path = path, .weights = weights, .fast_rows = fast_rows, .fine_rows = fine_rows});
    return found.take();
  };
  EXPECT_THAT(problems("cpu", "avx2", "q4_0", false), ElementsAre());
  EXPECT_THAT(problems("cpu", "auto", "file", false, true), ElementsAre());
  EXPECT_THAT(problems("torch-cpu", "auto", "f32", true), ElementsAre());
  EXPECT_THAT(problems("cpu", "avx2", "bf16", false, true), ElementsAre(testing::HasSubstr("--fine-rows is of small weights")));
  EXPECT_THAT(problems("cpu", "amx_bf16", "file", false, true),
              ElementsAre(testing::HasSubstr("--fine-rows is of other paths")));
  EXPECT_THAT(problems("cuda:1", "auto", "small", false, true),
              ElementsAre("--fine-rows is of --device cpu; cuda:1 rounds no row to int8, so leave it out"));
  EXPECT_THAT(problems("cuda:3", "auto", "f16", false), ElementsAre());
  EXPECT_THAT(problems("cuda:0", "auto", "small", false), ElementsAre());
  EXPECT_THAT(problems("cuda:0", "auto", "q4_0", false), ElementsAre());
  EXPECT_THAT(problems("gpu", "auto", "file", false),
              ElementsAre("--device \"gpu\" is not known; choose one of: cpu, torch-cpu, cuda:N (GPU number N)"));
  EXPECT_THAT(problems("torch-cpu", "avx2", "q4_0", false),
              ElementsAre("--weights \"q4_0\" is of another --device; choose one of: file, f32, bf16, f16",
                          "--path avx2 is of --device cpu; leave it out with --device torch-cpu"));
  EXPECT_THAT(problems("cuda:0", "auto", "q2", false),
              ElementsAre("--weights \"q2\" is not known; choose one of: file, f32, bf16, f16, small, q8_0, q4_0, q4_1, q5_1, "
                          "q6_k"));
  EXPECT_THAT(problems("cpu", "auto", "f32", true),
              ElementsAre(testing::HasSubstr("--weights \"f32\" is of another --device; choose one of: file, bf16"),
                          testing::HasSubstr("--fast-rows is of torch's")));
}

TEST(CacheSize, IsSaidOnceAndWithAUnit) {
  const auto problems = [](bool tokens, const char* memory) {
    Problems found;
    found.cache(tokens, memory);
    return found.take();
  };
  EXPECT_THAT(problems(true, ""), ElementsAre());
  EXPECT_THAT(problems(false, "2GiB"), ElementsAre());
  EXPECT_THAT(problems(false, "2"), ElementsAre("--cache-memory \"2\" has no unit; write 2GiB or 2MiB"));
  EXPECT_THAT(problems(true, "2GiB"),
              ElementsAre("--cache-tokens and --cache-memory both say how large the cache is; leave one of them out"));
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
