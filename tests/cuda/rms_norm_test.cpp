#include "kernels/cuda/rms_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

const Kernels& twin = kernels(CpuPath::portable);

struct Case {
  int32_t rows, cols;
  bool adds;
  Element element;
  Element stream = Element::f32;
};

// The residual stream and out, each [rows, cols].
struct Result {
  std::vector<float> residual, out;
};

Result on_device(const Case& c, const std::vector<float>& residual, const std::vector<float>& delta,
                 const std::vector<float>& gain) {
  DeviceArray<float> gains("gain", gain);
  Elements stream("residual", c.stream, residual, false), added("delta", c.element, delta),
      out("out", c.element, residual.size());
  EXPECT_EQ(add_rms_norm({.residual = stream.data(),
                          .delta = c.adds ? added.data() : nullptr,
                          .gain = gains.data(),
                          .out = out.data(),
                          .rows = c.rows,
                          .cols = c.cols,
                          .eps = 1e-5F,
                          .element = c.element,
                          .stream = c.stream},
                         nullptr),
            0);
  EXPECT_EQ(take_fault(), "");
  return {stream.host(), out.host()};
}

Result on_cpu(const Case& c, std::vector<float> residual, const std::vector<float>& delta, const std::vector<float>& gain) {
  std::vector<float> out(residual.size());
  for (int32_t row = 0; row < c.rows; ++row) {
    const int64_t first = int64_t{row} * c.cols;
    twin.add_rms_norm({.residual = residual.data() + first,
                       .delta = c.adds ? delta.data() + first : nullptr,
                       .gain = gain.data(),
                       .out = out.data() + first,
                       .cols = c.cols,
                       .eps = 1e-5F});
  }
  return {kept(c.stream, residual), out};
}

TEST(CudaRmsNorm, EqualsItsCpuTwin) {
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    for (const int32_t cols : {1, 31, 32, 255, 256, 257, 576, 2048}) {
      for (const bool adds : {false, true}) {
        const Case c{.rows = 3, .cols = cols, .adds = adds, .element = element};
        const auto residual = normal(3 * cols, 1), gain = normal(cols, 3);
        const auto delta = kept(element, normal(3 * cols, 2));
        const Result device = on_device(c, residual, delta, gain), cpu = on_cpu(c, residual, delta, gain);
        EXPECT_EQ(device.residual, cpu.residual);
        EXPECT_THAT(device.out, testing::Pointwise(testing::FloatNear(tolerance(element, 8)), cpu.out)) << cols;
      }
    }
  }
}

TEST(CudaRmsNorm, GivesARowTheSameBitsAloneAndAmongOthers) {
  const Case all{.rows = 5, .cols = 300, .adds = true, .element = Element::f32};
  const auto residual = normal(1500, 1), delta = normal(1500, 2), gain = normal(300, 3);
  const Result together = on_device(all, residual, delta, gain);
  for (int64_t row = 0; row < 5; ++row) {
    const auto part = [&](const std::vector<float>& of) {
      return std::vector<float>(of.begin() + row * 300, of.begin() + (row + 1) * 300);
    };
    EXPECT_EQ(on_device({1, 300, true, Element::f32}, part(residual), part(delta), gain).out, part(together.out));
  }
}

// The sum is rounded before it is normed, so both are those of bf16.
TEST(CudaRmsNorm, TakesAResidualStreamOfItsElements) {
  const auto residual = kept(Element::bf16, normal(600, 1)), delta = kept(Element::bf16, normal(600, 2)), gain = normal(300, 3);
  for (const bool adds : {false, true}) {
    const Case c{.rows = 2, .cols = 300, .adds = adds, .element = Element::bf16, .stream = Element::bf16};
    const Result device = on_device(c, residual, delta, gain), cpu = on_cpu(c, residual, delta, gain);
    EXPECT_EQ(device.residual, cpu.residual);
    // Of the rounded sums, all but near ties have the very bits.
    const Result of_rounded =
        on_cpu({.rows = 2, .cols = 300, .adds = false, .element = Element::bf16}, device.residual, delta, gain);
    const std::vector<float> expected = kept(Element::bf16, of_rounded.out);
    int others = 0;
    for (size_t i = 0; i < expected.size(); ++i) others += device.out[i] != expected[i];
    EXPECT_LE(others, 2);
  }
}

// Five heads of rows that are wider, as queries are beside keys and values.
TEST(CudaHeadNorm, EqualsItsCpuTwinAndLeavesWhatIsBesideIt) {
  constexpr int32_t kRows = 3, kHeads = 5;
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    for (const int32_t size : {1, 8, 31, 64, 128}) {
      const int64_t stride = int64_t{kHeads + 2} * size;
      const auto before = kept(element, normal(kRows * stride, 1)), gain = normal(size, 2);
      Elements cells("heads", element, before, false);
      DeviceArray<float> gains("gain", gain);
      EXPECT_EQ(norm_heads({.first = cells.data(),
                            .stride = stride,
                            .gain = gains.data(),
                            .rows = kRows,
                            .heads = kHeads,
                            .head_size = size,
                            .eps = 1e-5F,
                            .element = element},
                           nullptr),
                0);
      EXPECT_EQ(take_fault(), "");
      std::vector<float> expected = before;
      for (int64_t head = 0; head < kRows * (kHeads + 2); ++head) {
        if (head % (kHeads + 2) >= kHeads) continue;
        float* at = expected.data() + head * size;
        twin.add_rms_norm({.residual = at, .gain = gain.data(), .out = at, .cols = size, .eps = 1e-5F});
      }
      EXPECT_THAT(cells.host(), testing::Pointwise(testing::FloatNear(tolerance(element, 8)), expected)) << size;
    }
  }
}

}  // namespace
}  // namespace slipstream::cuda
