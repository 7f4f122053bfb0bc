// The twin is kernels/exact's QuantizedBlock, which gives the numbers of a block, in double
// precision. (The CPU's own product rounds activations to 8 bits; this kernel does not.)
#include "kernels/cuda/linear.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/cpu/panels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_1, WeightFormat::q5_1,
                                     WeightFormat::q6_k};

// Random weights, as the device and as kernels/exact have them.
struct Weights {
  std::vector<uint16_t> scales, second;
  std::vector<uint8_t> q, high;
  std::vector<float> numbers;  // [out, in]
  QuantizedMatrix matrix;

  Weights(WeightFormat format, int32_t out, int32_t in) {
    matrix = {.format = format, .out = out, .in = in};
    scales.resize(at(matrix.scale_count())), q.resize(at(matrix.q_count())), high.resize(at(matrix.high_count()));
    if (has_second(format)) second.resize(scales.size());
    numbers.resize(at(out * in));
    matrix.scales = scales.data(), matrix.second = second.data(), matrix.q = q.data(), matrix.high = high.data();
    std::vector<std::byte> row(at(matrix.groups() * block_bytes(format)));
    for (int32_t i = 0; i < out; ++i) {
      quantize(format, normal(in, static_cast<uint32_t>(i)).data(), in, row.data());
      lay_out_row(row.data(), i, matrix);
      for (int32_t group = 0; group < matrix.groups(); ++group) {
        QuantizedBlock::read(format, &row[at(group * block_bytes(format))])
            .numbers(format, &numbers[at(i * in + group * kBlockNumbers)]);
      }
    }
  }
};

// The same in the device's memory.
struct OnDevice {
  DeviceArray<uint16_t> scales, second;
  DeviceArray<uint8_t> q, high;
  QuantizedMatrix matrix;

  explicit OnDevice(const Weights& weights)
      : scales("scales", weights.scales),
        second("second", weights.second),
        q("q", weights.q),
        high("high", weights.high),
        matrix(weights.matrix) {
    matrix.scales = scales.data(), matrix.second = second.data(), matrix.q = q.data(), matrix.high = high.data();
  }
};

struct Case {
  int32_t rows, out, in;
  Element out_element = Element::f32;
  int32_t gap = 0;  // columns between two rows of the result
};

std::vector<float> product(const Weights& weights, const Case& c, const std::vector<float>& in,
                           const std::vector<float>& bias) {
  OnDevice weight(weights);
  DeviceArray<float> biases("bias", bias);
  const int32_t stride = c.out + c.gap;
  Elements x("in", Element::bf16, in), out("out", c.out_element, std::vector<float>(at(c.rows * stride), 7.0F), false);
  const LinearArgs args{.in = x.data(),
                        .weight = weight.matrix,
                        .bias = bias.empty() ? nullptr : biases.data(),
                        .out = out.data(),
                        .out_stride = stride,
                        .rows = c.rows,
                        .out_element = c.out_element};
  EXPECT_EQ(quantized_linear(args, nullptr), 0) << take_fault();
  return out.host();
}

TEST(CudaLinear, MultipliesTheNumbersOfThePackedWeights) {
  for (const WeightFormat format : kFormats) {
    for (const Case& c : {Case{1, 5, 32}, Case{3, 8, 96}, Case{16, 6, 1088, Element::bf16}, Case{19, 21, 64, Element::bf16},
                          Case{65, 17, 288, Element::f32, 3}}) {
      const Weights weights(format, c.out, c.in);
      const std::vector<float> in = kept(Element::bf16, normal(c.rows * c.in, 9)), bias = normal(c.out, 8);
      const std::vector<float> got = product(weights, c, in, bias);
      for (int32_t i = 0; i < c.rows * c.out; ++i) {
        const int32_t row = i / c.out, col = i % c.out;
        double exact = bias[at(col)], size = 1;
        for (int32_t k = 0; k < c.in; ++k) {
          const double each = double{in[at(row * c.in + k)]} * weights.numbers[at(col * c.in + k)];
          exact += each;
          size += std::abs(each);
        }
        const double rounding = c.out_element == Element::f32 ? 0 : std::abs(exact) * 0x1p-8;
        ASSERT_NEAR(got[at(row * (c.out + c.gap) + col)], exact, size * 1e-6 + rounding) << name(format) << ", row " << row;
      }
      for (int32_t row = 0; row < c.rows && c.gap > 0; ++row) EXPECT_EQ(got[at(row * (c.out + c.gap) + c.out)], 7.0F);
    }
  }
}

TEST(CudaLinear, GivesARowTheSameBitsAloneAndAmongOthers) {
  constexpr int32_t kIn = 2080, kOut = 7;
  for (const WeightFormat format : kFormats) {
    const Weights weights(format, kOut, kIn);
    const std::vector<float> in = normal(int64_t{70} * kIn, 1), together = product(weights, {70, kOut, kIn}, in, {});
    for (const int64_t row : {0, 5, 16, 69}) {
      for (const int32_t rows : {1, 9}) {  // the row is the last one
        if (row + 1 < rows) continue;
        const std::vector<float> some(in.begin() + (row + 1 - rows) * kIn, in.begin() + (row + 1) * kIn);
        const std::vector<float> got = product(weights, {rows, kOut, kIn}, some, {});
        EXPECT_EQ(std::vector<float>(got.end() - kOut, got.end()),
                  std::vector<float>(together.begin() + row * kOut, together.begin() + (row + 1) * kOut));
      }
    }
  }
}

TEST(CudaUnpackRows, GivesTheNumbersOfTheRowsThatAreAskedFor) {
  constexpr int32_t kOut = 19, kIn = 2144;
  for (const WeightFormat format : kFormats) {
    const Weights weights(format, kOut, kIn);
    OnDevice weight(weights);
    const std::vector<int64_t> rows{18, 0, 7, 8, 7};
    DeviceArray<int64_t> asked("rows", rows);
    DeviceArray<uint16_t> out("out", rows.size() * kIn);
    EXPECT_EQ(unpack_rows({.weight = weight.matrix, .row = asked.data(), .out = out.data(), .count = 5}, nullptr), 0)
        << take_fault();
    const std::vector<uint16_t> got = out.host();
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto from = weights.numbers.begin() + rows[i] * kIn;
      for (int64_t col = 0; col < kIn; ++col) {
        EXPECT_EQ(got[i * kIn + static_cast<size_t>(col)], f32_to_bf16(from[col])) << name(format) << ", row " << rows[i];
      }
    }
  }
}

TEST(CudaLinear, RefusesWhatItCannotRead) {
  EXPECT_EQ(quantized_linear({.weight = {.format = WeightFormat::bf16, .out = 1, .in = 32}, .rows = 1}, nullptr), 1);
  EXPECT_EQ(quantized_linear({.weight = {.out = 1, .in = 33}, .rows = 1}, nullptr), 1);
  EXPECT_EQ(unpack_rows({.weight = {.out = 1, .in = 33}, .count = 1}, nullptr), 1);
}

}  // namespace
}  // namespace slipstream::cuda
