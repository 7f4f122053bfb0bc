// The parity table (linear and attention have files of their own): every kernel of every path that
// this machine has, against the plainest computation in double precision, over sizes that fill
// vectors and panels and sizes that do not. A new kernel or path gets its row here.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panels.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream {
namespace {

class Parity : public testing::TestWithParam<CpuPath> {
 protected:
  const Kernels& k = kernels(GetParam());
};

TEST_P(Parity, RoundingToBf16IsToNearestEven) {
  if (k.to_bf16 == nullptr) GTEST_SKIP() << "this path rounds no activations";
  auto values = normal(1003, 3);
  values[0] = 1.00390625F;  // halfway: goes to even, 1.0
  values[1] = 1.01171875F;  // halfway: goes to even, 1.015625
  values[2] = INFINITY;
  std::vector<uint16_t> ours(values.size());
  k.to_bf16(values.data(), static_cast<int32_t>(values.size()), ours.data());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(ours[i], f32_to_bf16(values[i])) << values[i];
}

TEST_P(Parity, AddRmsNorm) {
  for (const int32_t cols : {1, 15, 16, 42, 576}) {
    for (const bool adds : {false, true}) {
      auto residual = normal(at(cols), 1);
      const auto before = residual, delta = normal(at(cols), 2), gain = normal(at(cols), 3);
      std::vector<float> out(at(cols));
      k.add_rms_norm({.residual = residual.data(),
                      .delta = adds ? delta.data() : nullptr,
                      .gain = gain.data(),
                      .out = out.data(),
                      .cols = cols,
                      .eps = 1e-5F});
      double squares = 0;
      for (int32_t i = 0; i < cols; ++i) {
        EXPECT_EQ(residual[at(i)], adds ? before[at(i)] + delta[at(i)] : before[at(i)]);
        squares += double{residual[at(i)]} * residual[at(i)];
      }
      for (int32_t i = 0; i < cols; ++i) {
        const double exact = residual[at(i)] / std::sqrt(squares / cols + 1e-5) * gain[at(i)];
        EXPECT_NEAR(out[at(i)], exact, 1e-6 + std::abs(exact) * 1e-6);
      }
    }
  }
}

TEST_P(Parity, RopeTurnsPairsHalfAHeadApart) {
  for (const int32_t half : {1, 4, 10, 32}) {
    auto head = normal(at(2 * half), 1);
    const auto before = head, angle = normal(at(half), 2);
    std::vector<float> cosine, sine;
    for (const float each : angle) {
      cosine.push_back(std::cos(each));
      sine.push_back(std::sin(each));
    }
    k.rope(head.data(), cosine.data(), sine.data(), half);
    for (int32_t i = 0; i < half; ++i) {
      const double low = before[at(i)], high = before[at(i + half)];
      EXPECT_NEAR(head[at(i)], low * std::cos(double{angle[at(i)]}) - high * std::sin(double{angle[at(i)]}), 1e-6);
      EXPECT_NEAR(head[at(i + half)], high * std::cos(double{angle[at(i)]}) + low * std::sin(double{angle[at(i)]}), 1e-6);
    }
  }
}

TEST_P(Parity, SiluGateOverTheWholeRangeOfFloats) {
  for (const int32_t half : {1, 16, 88, 1536}) {
    auto gate_up = normal(at(2 * half), 1);
    for (int32_t i = 0; i < half; ++i) gate_up[at(i)] *= 20;
    gate_up[0] = half == 1 ? -500.0F : 500.0F;
    std::vector<float> out(at(half));
    k.silu_gate(gate_up.data(), half, out.data());
    for (int32_t i = 0; i < half; ++i) {
      const double gate = gate_up[at(i)], exact = gate / (1 + std::exp(-gate)) * gate_up[at(i + half)];
      EXPECT_NEAR(out[at(i)], exact, std::abs(exact) * 1e-6 + 1e-30) << gate;
    }
  }
}

// A gate's rounded exponent is off by some of its ulps, and so is e to its power.
TEST_P(Parity, GeluGateOverTheWholeRangeOfFloats) {
  for (const int32_t half : {1, 16, 88, 1536}) {
    auto gate_up = normal(at(2 * half), 1);
    for (int32_t i = 0; i < half; ++i) gate_up[at(i)] *= i % 2 == 0 ? 4 : 0.1F;
    gate_up[0] = half == 1 ? -1e15F : 1e15F;
    std::vector<float> out(at(half));
    k.gelu_gate(gate_up.data(), half, out.data());
    for (int32_t i = 0; i < half; ++i) {
      const double gate = gate_up[at(i)], twice = 2 * std::sqrt(2 / std::numbers::pi) * (gate + 0.044715 * gate * gate * gate);
      const double exact = gate / (1 + std::exp(-twice)) * gate_up[at(i + half)];
      EXPECT_NEAR(out[at(i)], exact, std::abs(exact) * (1e-6 + 4e-7 * std::min(std::abs(twice), 90.0)) + 1e-20) << gate;
    }
  }
}

TEST_P(Parity, SoftCapOverTheWholeRangeOfFloats) {
  for (const int32_t count : {1, 15, 16, 1000}) {
    for (const float cap : {0.5F, 30.0F}) {
      auto numbers = normal(at(count), 1);
      for (int32_t i = 0; i < count; ++i) numbers[at(i)] *= i % 3 == 0 ? 1e-3F : i % 3 == 1 ? 1.0F : 50.0F;
      numbers[0] = count == 15 ? INFINITY : -1e30F;
      const auto before = numbers;
      k.soft_cap(numbers.data(), count, cap);
      for (int32_t i = 0; i < count; ++i) {
        const double exact = cap * std::tanh(double{before[at(i)]} / cap);
        EXPECT_NEAR(numbers[at(i)], exact, std::abs(exact) * 5e-7) << before[at(i)];
      }
    }
  }
  float broken = NAN;
  k.soft_cap(&broken, 1, 30);
  EXPECT_TRUE(std::isnan(broken));
}

TEST_P(Parity, SiluIsAddedOverTheWholeRangeOfFloats) {
  for (const int32_t cols : {1, 17, 88, 576}) {
    auto in = normal(at(cols), 1);
    for (float& each : in) each *= 20;
    in[0] = -500.0F;
    const auto before = normal(at(cols), 2);
    auto residual = before;
    k.add_silu(in.data(), cols, residual.data());
    for (int32_t i = 0; i < cols; ++i) {
      const double exact = before[at(i)] + in[at(i)] / (1 + std::exp(-double{in[at(i)]}));
      EXPECT_NEAR(residual[at(i)], exact, std::abs(exact) * 1e-6 + 1e-6) << in[at(i)];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, Parity, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(CpuPath, PicksAnAvailableOne) {
  EXPECT_TRUE(available(best_cpu_path()));
  EXPECT_EQ(available_cpu_paths().front(), CpuPath::portable);
  for (const CpuPath path : available_cpu_paths()) EXPECT_EQ(kernels(path).path, path);
}

TEST(Bf16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(f32_to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(f32_to_bf16(1.00390625F), 0x3F80);
  EXPECT_EQ(f32_to_bf16(1.01171875F), 0x3F82);
  EXPECT_EQ(f32_to_bf16(3.4e38F), 0x7F80);  // beyond the largest: infinity
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(NAN))));
}

TEST(F16, WidensEveryKind) {
  EXPECT_EQ(f16_to_f32(0x3C00), 1.0F);
  EXPECT_EQ(f16_to_f32(0xC000), -2.0F);
  EXPECT_EQ(f16_to_f32(0x7BFF), 65504.0F);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0x83FF), -1023 * 0x1p-24F);
  EXPECT_EQ(f16_to_f32(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7E00)));
}

TEST(F16, TakesBackEveryNumberAndRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if ((bits & 0x7FFF) > 0x7C00) continue;  // not a number
    EXPECT_EQ(f32_to_f16(f16_to_f32(half)), half);
  }
  EXPECT_EQ(f32_to_f16(1.0F + 0x1p-11F), 0x3C00);      // halfway: to even
  EXPECT_EQ(f32_to_f16(1.0F + 3 * 0x1p-11F), 0x3C02);  // likewise
  EXPECT_EQ(f32_to_f16(65519.0F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);             // beyond the largest: infinity
  EXPECT_EQ(f32_to_f16(-0x1p-25F), 0x8000);            // half the least: to even, zero
  EXPECT_EQ(f32_to_f16(0x1p-14F - 0x1p-26F), 0x0400);  // up into the normal numbers
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(NAN))));
}

}  // namespace
}  // namespace slipstream
