#include "common/model/cpu/cpu_two_terms.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "common/model/cpu/cpu_ops.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 96, kTokens = 17 + kTwoTermPanels * kPanelRows;  // no whole panels

std::vector<float> normal(std::mt19937& random, size_t count) {
  std::vector<float> numbers(count);
  for (float& each : numbers) each = std::normal_distribution<float>(0, 1)(random);
  return numbers;
}

struct OutputLayer {
  std::vector<std::byte> stored;

  OutputLayer(WeightFormat format, std::mt19937& random) {
    std::vector<std::byte> row(static_cast<size_t>(groups_of(kCols) * block_bytes(format)));
    for (int32_t token = 0; token < kTokens; ++token) {
      quantize(format, normal(random, kCols).data(), kCols, row.data());
      stored.insert(stored.end(), row.begin(), row.end());
    }
  }
  HostMatrix matrix(Dtype dtype) const {
    return {.name = "head", .dtype = dtype, .rows = kTokens, .cols = kCols, .bytes = stored};
  }
};

// A layer on a device, and its logits.
class Packed {
 public:
  Packed(CpuPath path, const HostMatrix& matrix) : path_(path), device_(make_cpu_device({.threads = 2, .path = path}).value()) {
    head_ = device_->pack({&matrix, 1}, Format::matrix).value();
  }
  // in: [rows, kCols]
  std::vector<float> logits(std::vector<float> in, bool fine = true) const {
    const auto rows = static_cast<int32_t>(in.size()) / kCols;
    CpuOps ops(kernels(path_), 2);
    ops.reserve_columns(kCols);
    ops.reserve_rows(rows);
    std::vector<float> out(static_cast<size_t>(rows * kTokens));
    const Tensor from{.data = in.data(), .rows = rows, .cols = kCols, .type = Type::f32};
    const Tensor to{.data = out.data(), .rows = rows, .cols = kTokens, .type = Type::f32};
    fine ? ops.linear_fine(from, *head_, nullptr, to) : ops.linear(from, *head_, nullptr, to);
    return out;
  }
  // By the stored weights, which are products with the rows of a unit matrix.
  std::vector<float> exact(const std::vector<float>& in) const {
    std::vector<float> unit(static_cast<size_t>(kCols) * kCols, 0.0F);
    for (size_t i = 0; i < kCols; ++i) unit[i * kCols + i] = 1;
    const std::vector<float> columns = logits(unit, false);  // an outlier alone in its row: exact
    std::vector<float> out(in.size() / kCols * kTokens);
    for (size_t row = 0; row < in.size() / kCols; ++row) {
      for (size_t token = 0; token < kTokens; ++token) {
        double sum = 0;
        for (size_t i = 0; i < kCols; ++i) sum += static_cast<double>(in[row * kCols + i]) * columns[i * kTokens + token];
        out[row * kTokens + token] = static_cast<float>(sum);
      }
    }
    return out;
  }

 private:
  CpuPath path_;
  std::unique_ptr<Device> device_;
  Weight* head_ = nullptr;
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(squares);
}

const std::vector<std::pair<WeightFormat, Dtype>> kFormats{{WeightFormat::q8_0, Dtype::q8_0},
                                                           {WeightFormat::q4_1, Dtype::q4_1}};

TEST(TwoTerms, RoundTheOutputLayersRowsAHundredTimesFiner) {
  std::mt19937 random(7);
  for (const auto& [format, dtype] : kFormats) {
    const OutputLayer layer(format, random);
    for (const CpuPath path : available_cpu_paths()) {
      const Packed packed(path, layer.matrix(dtype));
      for (const size_t rows : {1, 3, 9}) {
        std::vector<float> in = normal(random, rows * kCols);
        in[5] = 40;  // an outlier
        const std::vector<float> exact = packed.exact(in), once = packed.logits(in, false), twice = packed.logits(in);
        if (linear_kernel(kernels(path), format).in != Activations::int8) {
          EXPECT_EQ(twice, once) << name(path);
        } else {
          EXPECT_LT(100 * distance(twice, exact), distance(once, exact)) << name(path) << ", " << rows << " rows";
        }
      }
    }
  }
}

// Few rows are joined with their second terms, many meet a panel twice.
TEST(TwoTerms, GiveARowTheBitsThatItHasAlone) {
  std::mt19937 random(8);
  for (const auto& [format, dtype] : kFormats) {
    const OutputLayer layer(format, random);
    for (const CpuPath path : available_cpu_paths()) {
      const Packed packed(path, layer.matrix(dtype));
      for (const size_t rows : {2, 3, 4, 5, 9, 20}) {
        std::vector<float> in = normal(random, rows * kCols);
        in[kCols + 70] = -30;
        const std::vector<float> together = packed.logits(in);
        for (size_t row = 0; row < rows; ++row) {
          const auto first = in.begin() + static_cast<ptrdiff_t>(row * kCols);
          const std::vector<float> alone = packed.logits({first, first + kCols});
          for (size_t i = 0; i < kTokens; ++i) {
            ASSERT_EQ(together[row * kTokens + i], alone[i]) << name(path) << ", row " << row << " of " << rows;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
