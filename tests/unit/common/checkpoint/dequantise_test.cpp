// Expected numbers: gguf.quants.dequantize of the `gguf` package, version 0.19.0, on these very
// bytes.
#include "common/checkpoint/dequantise.h"

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/common/checkpoint/hex.h"

namespace slipstream {
namespace {

std::vector<uint32_t> bits_of(Dtype dtype, const std::string& stored) {
  const auto cols = static_cast<int32_t>(stored.size() / block_of(dtype).bytes) * block_of(dtype).numbers;
  std::vector<float> values(static_cast<size_t>(cols));
  read_row({.name = "x", .dtype = dtype, .rows = 1, .cols = cols, .bytes = std::as_bytes(std::span(stored))}, 0, values);
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

TEST(Dequantise, AddsTheOffsetOfAMatrix) {
  const std::array<uint16_t, 3> stored{f32_to_bf16(0.5F), f32_to_bf16(-1.0F), f32_to_bf16(0.0F)};
  std::array<float, 3> values{};
  read_row({.name = "x", .dtype = Dtype::bf16, .rows = 1, .cols = 3, .bytes = std::as_bytes(std::span(stored)), .offset = 1}, 0,
           values);
  EXPECT_EQ(values, (std::array{1.5F, 0.0F, 1.0F}));
}

TEST(Dequantise, GivesTheReferencesBitsForQ8_0) {
  const std::vector<uint32_t> expected{0xBE62B000, 0x3FB1E300, 0xBFAEBD00, 0x3EDC6400, 0xBF39C200, 0xBFBB5500, 0xBECFCC00,
                                       0x3E498000, 0xBFB69C00, 0xBFC33400, 0xBFBE7B00, 0xBFA22500, 0xBEC98000, 0x3F88F500,
                                       0xBE561800, 0x3F209200, 0x3F2A0400, 0xBE305000, 0xBF23B800, 0x3F172000, 0x3FC1A100,
                                       0x3F93FA00, 0x3F9EFF00, 0x3F209200, 0x3F98B300, 0xBF8A8800, 0x3EC98000, 0x3D7BE000,
                                       0xBECFCC00, 0x3F958D00, 0x3FAB9700, 0xBF958D00};
  EXPECT_EQ(bits_of(Dtype::q8_0, from_hex("4c22ee719123c589df108c848799e057ef3336f2cc307b5e653361a82005df5f6da1")), expected);
}

TEST(Dequantise, GivesTheReferencesBitsForQ4_0) {
  const std::vector<uint32_t> expected{0x3C498000, 0x3D498000, 0xBD7BE000, 0xBD172000, 0xBDB05000, 0x3DB05000, 0x3C498000,
                                       0xBDC98000, 0x3D498000, 0xBDB05000, 0x3CC98000, 0x3D498000, 0x3D972000, 0x3D7BE000,
                                       0x3D498000, 0x3D972000, 0x3D498000, 0x3DB05000, 0x3D7BE000, 0x3DB05000, 0x3D498000,
                                       0xBD972000, 0x3CC98000, 0xBD172000, 0x3DB05000, 0x3CC98000, 0x3D972000, 0xBD172000,
                                       0xBD498000, 0xBCC98000, 0xBD7BE000, 0xBC498000};
  EXPECT_EQ(bits_of(Dtype::q4_0, from_hex("4c22c9fcd3f5c12fa950fca1ea5c4e6d3c7e")), expected);
}

TEST(Dequantise, GivesTheReferencesBitsForQ4_1) {
  const std::vector<uint32_t> expected{0xBE582800, 0xBE326000, 0xBE64C000, 0xBE8B9000, 0xBE582800, 0xBEA4C000, 0xBE4B9000,
                                       0xBE326000, 0xBE7DF000, 0xBE854400, 0xBE0C9800, 0xBE193000, 0xBE193000, 0xBE982800,
                                       0xBE9E7400, 0xBE91DC00, 0xBE982800, 0xBE715800, 0xBE715800, 0xBE854400, 0xBE715800,
                                       0xBE193000, 0xBE9E7400, 0xBE4B9000, 0xBE715800, 0xBE9E7400, 0xBEA4C000, 0xBE4B9000,
                                       0xBE715800, 0xBE193000, 0xBE3EF800, 0xBE715800};
  EXPECT_EQ(bits_of(Dtype::q4_1, from_hex("4c2226b5297c785479e01aac76150fae7ee2b173")), expected);
}

TEST(Dequantise, ReadsEveryHalfExactly) {
  for (uint32_t half = 0; half <= 0xFFFF; ++half) {
    const auto bits = static_cast<uint16_t>(half);
    const std::string stored(reinterpret_cast<const char*>(&bits), 2);
    const float expected = std::bit_cast<_Float16>(bits), ours = std::bit_cast<float>(bits_of(Dtype::f16, stored).at(0));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(ours)) << half;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(expected)) << half;
    }
  }
}

TEST(Dequantise, TakesPairedRowsApart) {
  // Two heads of four rows, stored as 0, 2, 1, 3 of each.
  const std::vector<float> stored{0, 2, 1, 3, 4, 6, 5, 7};
  const HostMatrix matrix{
      .name = "q", .dtype = Dtype::f32, .rows = 8, .cols = 1, .bytes = std::as_bytes(std::span(stored)), .paired_heads = 2};
  for (int32_t row = 0; row < 8; ++row) {
    std::array<float, 1> value{};
    read_row(matrix, row, value);
    EXPECT_EQ(value[0], static_cast<float>(row));
  }
}

}  // namespace
}  // namespace slipstream
