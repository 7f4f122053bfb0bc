#include "kernels/cpu/path.h"

#include <gtest/gtest.h>

#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

constexpr CpuFeatures kSapphireRapids{.avx2 = true,
                                      .fma = true,
                                      .f16c = true,
                                      .avx512f = true,
                                      .avx512bw = true,
                                      .avx512dq = true,
                                      .avx512vl = true,
                                      .avx512_vnni = true,
                                      .avx512_bf16 = true,
                                      .amx_tile = true,
                                      .amx_bf16 = true};

TEST(CpuPath, NamesTheInstructionSetThatACpuLacks) {
  CpuFeatures cpu = kSapphireRapids;
  for (const CpuPath path : all_cpu_paths()) EXPECT_EQ(missing_for(path, cpu), nullptr) << name(path);
  cpu.amx_bf16 = false;
  EXPECT_STREQ(missing_for(CpuPath::amx, cpu), "AMX BF16");
  cpu.avx512_bf16 = false;
  EXPECT_STREQ(missing_for(CpuPath::avx512_bf16, cpu), "AVX-512 BF16");
  EXPECT_EQ(missing_for(CpuPath::avx512_vnni, cpu), nullptr);
  cpu.avx512vl = false;
  EXPECT_STREQ(missing_for(CpuPath::avx512_vnni, cpu), "AVX-512 VL");
  EXPECT_EQ(missing_for(CpuPath::avx2, cpu), nullptr);
  EXPECT_STREQ(missing_for(CpuPath::avx2, {}), "AVX2");
  EXPECT_EQ(missing_for(CpuPath::portable, {}), nullptr);
}

TEST(CpuPath, NeedsAllThatTheOneBeforeItNeeds) {
  for (bool CpuFeatures::* each :
       {&CpuFeatures::avx2, &CpuFeatures::fma, &CpuFeatures::f16c, &CpuFeatures::avx512f, &CpuFeatures::avx512bw,
        &CpuFeatures::avx512dq, &CpuFeatures::avx512vl, &CpuFeatures::avx512_vnni, &CpuFeatures::avx512_bf16,
        &CpuFeatures::amx_tile, &CpuFeatures::amx_bf16}) {
    CpuFeatures cpu = kSapphireRapids;
    cpu.*each = false;
    bool lacking = false;
    for (const CpuPath path : all_cpu_paths()) {
      EXPECT_TRUE(!lacking || missing_for(path, cpu) != nullptr) << name(path);
      lacking = missing_for(path, cpu) != nullptr;
    }
    EXPECT_TRUE(lacking) << "nothing needs it";
  }
}

TEST(CpuPath, IsKnownByItsName) {
  for (const CpuPath path : all_cpu_paths()) EXPECT_EQ(cpu_path(name(path)), path);
  EXPECT_EQ(cpu_path("auto"), std::nullopt);
}

TEST(WeightFormats, AreKnownByTheirNames) {
  for (const WeightFormat format : kAllWeightFormats) EXPECT_EQ(weight_format(name(format)), format);
  EXPECT_EQ(weight_format("file"), std::nullopt);
}

}  // namespace
}  // namespace slipstream
