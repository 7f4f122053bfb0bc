#include "kernels/cuda/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

const Kernels& twin = kernels(CpuPath::portable);

// A gate, and the same of the CPU. slack: of what one rounding of a number is.
void expect_twins(int (*gate)(const GateArgs&, Stream), void (*cpu)(const float*, int32_t, float*), float slack) {
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    for (const int32_t cols : {1, 31, 255, 256, 257, 1000}) {
      constexpr int32_t kRows = 3;
      std::vector<float> gate_up = normal(int64_t{2} * kRows * cols, 1);
      for (float& each : gate_up) each *= 4;
      gate_up[0] = -500;  // e^500 is beyond a float
      gate_up = kept(element, gate_up);
      Elements in("gate_up", element, gate_up), out("out", element, at(kRows * cols));
      ASSERT_EQ(gate({.gate_up = in.data(), .out = out.data(), .rows = kRows, .cols = cols, .element = element}, nullptr), 0)
          << take_fault();
      std::vector<float> expected(at(kRows * cols));
      for (int32_t row = 0; row < kRows; ++row) {
        cpu(gate_up.data() + int64_t{2} * row * cols, cols, expected.data() + int64_t{row} * cols);
      }
      const std::vector<float> got = out.host();
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], slack * tolerance(element, std::abs(expected[i])) + 1e-30) << i;
      }
    }
  }
}

TEST(CudaGate, OfSiluEqualsItsCpuTwin) { expect_twins(silu_gate, twin.silu_gate, 1); }
// The power of e is rounded, by which e to it is off: it is up to 90 where a float is not yet 0.
TEST(CudaGate, OfGeluEqualsItsCpuTwin) { expect_twins(gelu_gate, twin.gelu_gate, 20); }

}  // namespace
}  // namespace slipstream::cuda
