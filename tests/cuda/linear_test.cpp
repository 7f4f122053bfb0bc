// The twin is the CPU's unpack_row, which gives the numbers of a packed row, in double precision.
// (The CPU's own product rounds activations to 8 bits; this kernel does not.)
#include "kernels/cuda/linear.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/cpu/panels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_1};

// Random weights, as the device and as the CPU have them.
struct Weights {
  std::vector<uint16_t> scales, minima;
  std::vector<uint8_t> q;
  std::vector<float> numbers;  // [out, in]
  QuantizedMatrix matrix;

  Weights(WeightFormat format, int32_t out, int32_t in) {
    matrix = {.format = format, .out = out, .in = in};
    scales.resize(at(out * matrix.groups())), minima.resize(scales.size()), numbers.resize(at(out * in));
    q.resize(scales.size() * at(matrix.group_bytes()));
    matrix.scales = scales.data(), matrix.minima = minima.data(), matrix.q = q.data();
    std::vector<std::byte> panels(at(panels_of(out) * panel_bytes(format, in))), row(at(matrix.groups() * block_bytes(format)));
    for (int32_t i = 0; i < out; ++i) {
      quantize(format, normal(in, static_cast<uint32_t>(i)).data(), in, row.data());
      unpack_blocks(row.data(), i, matrix);
      pack_blocks(format, PanelLayout::words, row.data(), in, i, panels.data());
      unpack_row(format, PanelLayout::words, panels.data(), in, i, &numbers[at(i * in)]);
    }
  }
};

struct Case {
  int32_t rows, out, in;
  Element in_element, out_element;
};

std::vector<float> on_device(const Weights& weights, const Case& c, const std::vector<float>& in,
                             const std::vector<float>& bias) {
  DeviceArray<uint16_t> scales("scales", weights.scales), minima("minima", weights.minima);
  DeviceArray<uint8_t> q("q", weights.q);
  DeviceArray<float> biases("bias", bias);
  Elements x("in", c.in_element, in), out("out", c.out_element, at(c.rows * c.out));
  LinearArgs args{.in = x.data(),
                  .weight = weights.matrix,
                  .bias = bias.empty() ? nullptr : biases.data(),
                  .out = out.data(),
                  .rows = c.rows,
                  .in_element = c.in_element,
                  .out_element = c.out_element};
  args.weight.scales = scales.data(), args.weight.minima = minima.data(), args.weight.q = q.data();
  EXPECT_EQ(quantized_linear(args, nullptr), 0) << take_fault();
  return out.host();
}

TEST(CudaLinear, MultipliesTheNumbersOfThePackedWeights) {
  for (const WeightFormat format : kFormats) {
    for (const Case& c : {Case{1, 5, 32, Element::f32, Element::f32}, Case{3, 8, 96, Element::bf16, Element::f32},
                          Case{16, 6, 1088, Element::bf16, Element::bf16}, Case{19, 3, 64, Element::f32, Element::bf16}}) {
      const Weights weights(format, c.out, c.in);
      const std::vector<float> in = kept(c.in_element, normal(c.rows * c.in, 9)), bias = normal(c.out, 8);
      const std::vector<float> got = on_device(weights, c, in, bias);
      for (int32_t i = 0; i < c.rows * c.out; ++i) {
        double exact = bias[at(i % c.out)], size = 1;
        for (int32_t k = 0; k < c.in; ++k) {
          const double product = double{in[at(i / c.out * c.in + k)]} * weights.numbers[at(i % c.out * c.in + k)];
          exact += product;
          size += std::abs(product);
        }
        const double rounding = c.out_element == Element::f32 ? 0 : std::abs(exact) * 0x1p-8;
        ASSERT_NEAR(got[at(i)], exact, size * 1e-6 + rounding) << name(format) << ", row " << i / c.out;
      }
    }
  }
}

TEST(CudaLinear, GivesARowTheSameBitsAloneAndAmongOthers) {
  for (const WeightFormat format : kFormats) {
    const Weights weights(format, 7, 2080);
    const std::vector<float> in = normal(int64_t{17} * 2080, 1);
    const std::vector<float> together = on_device(weights, {17, 7, 2080, Element::f32, Element::f32}, in, {});
    for (const int64_t row : {0, 5, 16}) {
      const std::vector<float> own(in.begin() + row * 2080, in.begin() + (row + 1) * 2080);
      EXPECT_EQ(on_device(weights, {1, 7, 2080, Element::f32, Element::f32}, own, {}),
                std::vector<float>(together.begin() + row * 7, together.begin() + (row + 1) * 7));
    }
  }
}

TEST(CudaLinear, RefusesWhatItCannotRead) {
  EXPECT_EQ(quantized_linear({.weight = {.format = WeightFormat::bf16, .out = 1, .in = 32}, .rows = 1}, nullptr), 1);
  EXPECT_EQ(quantized_linear({.weight = {.out = 1, .in = 33}, .rows = 1}, nullptr), 1);
}

}  // namespace
}  // namespace slipstream::cuda
