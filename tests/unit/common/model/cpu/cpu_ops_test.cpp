#include "common/model/cpu/cpu_ops.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 96, kRowsOfInput = 5;

// A matrix of small numbers, rounded to its type.
struct Stored {
  Dtype dtype;
  int32_t rows;
  std::vector<std::byte> bytes;

  Stored(Dtype type, int32_t out, std::mt19937& random) : dtype(type), rows(out) {
    const auto format = type == Dtype::q8_0 ? WeightFormat::q8_0 : WeightFormat::q4_1;
    for (int32_t row = 0; row < rows; ++row) {
      std::vector<float> values(kCols);
      for (float& each : values) each = std::normal_distribution<float>(0, 0.05F)(random);
      std::vector<std::byte> stored(matrix().row_bytes());
      if (type == Dtype::bf16) {
        for (size_t i = 0; i < values.size(); ++i) store_half(&stored[2 * i], f32_to_bf16(values[i]));
      } else {
        quantize(format, values.data(), kCols, stored.data());
      }
      bytes.insert(bytes.end(), stored.begin(), stored.end());
    }
  }
  HostMatrix matrix() const { return {.name = "m", .dtype = dtype, .rows = rows, .cols = kCols, .bytes = bytes}; }
};

// in * stack^T + bias on a path.
std::vector<float> product(CpuPath path, std::vector<float>& in, const std::vector<HostMatrix>& stack,
                           std::vector<float> bias_numbers, bool fine) {
  const auto device = make_cpu_device({.path = path}).value();
  const Weight& weight = *device->pack(stack, Format::matrix).value();
  const HostMatrix column{.name = "b",
                          .dtype = Dtype::f32,
                          .rows = static_cast<int32_t>(bias_numbers.size()),
                          .cols = 1,
                          .bytes = std::as_bytes(std::span(bias_numbers))};
  const Weight& bias = *device->pack({&column, 1}, Format::f32).value();
  CpuOps ops(kernels(path), 2);
  ops.reserve_columns(kCols);
  ops.reserve_rows(kRowsOfInput);
  std::vector<float> out(static_cast<size_t>(kRowsOfInput * weight.out));
  const Tensor from{.data = in.data(), .rows = kRowsOfInput, .cols = kCols, .type = Type::f32};
  const Tensor to{.data = out.data(), .rows = kRowsOfInput, .cols = weight.out, .type = Type::f32};
  fine ? ops.linear_fine(from, weight, &bias, to) : ops.linear(from, weight, &bias, to);
  return out;
}

class Stacks : public testing::TestWithParam<bool> {};  // whether rows are fine

// Each matrix of a stack keeps its format, and what it gives is what it gives alone, with its own
// part of the bias.
TEST_P(Stacks, AreMultipliedPartByPart) {
  std::mt19937 random(3);
  std::vector<float> in(kRowsOfInput * kCols);
  for (float& each : in) each = std::normal_distribution<float>(0, 1)(random);
  // 17 and 40 rows are no whole panels; the second and the third are one part.
  const std::vector<Stored> stored{{Dtype::q4_1, 17, random},
                                   {Dtype::q8_0, 64, random},
                                   {Dtype::q8_0, 33, random},
                                   {Dtype::bf16, 40, random},
                                   {Dtype::q4_1, 32, random}};
  std::vector<HostMatrix> stack;
  for (const Stored& each : stored) stack.push_back(each.matrix());
  std::vector<float> bias(17 + 64 + 33 + 40 + 32);
  for (float& each : bias) each = std::normal_distribution<float>(0, 1)(random);
  for (const CpuPath path : available_cpu_paths()) {
    const std::vector<float> together = product(path, in, stack, bias, GetParam());
    size_t first = 0;
    for (const HostMatrix& matrix : stack) {
      const auto rows = static_cast<size_t>(matrix.rows);
      const auto begin = bias.begin() + static_cast<ptrdiff_t>(first);
      const std::vector<float> alone = product(path, in, {matrix}, {begin, begin + matrix.rows}, GetParam());
      for (size_t row = 0; row < kRowsOfInput; ++row) {
        for (size_t col = 0; col < rows; ++col) {
          ASSERT_EQ(together[row * bias.size() + first + col], alone[row * rows + col]) << name(path) << ", column " << col;
        }
      }
      first += rows;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(CpuOps, Stacks, testing::Bool(), [](const auto& info) { return info.param ? "fine" : "plain"; });

// Rows are split over the threads in parts; the last part of each is short.
TEST(CpuOps, CapEveryNumberOfLongRowsOnce) {
  constexpr int32_t kRows = 3, kLong = 20000;
  std::vector<float> rows(size_t{kRows} * kLong);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 977) - 488;
  std::vector<float> expected = rows;
  const Kernels& kernel = kernels(best_cpu_path());
  kernel.soft_cap(expected.data(), kRows * kLong, 30);
  CpuOps ops(kernel, 2);
  ops.soft_cap({.data = rows.data(), .rows = kRows, .cols = kLong, .type = Type::f32}, 30);
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace slipstream
