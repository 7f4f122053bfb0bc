#include "common/model/cpu/row_packer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "common/checkpoint/dequantise.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 512, kRows = 32;
constexpr float kHalfStep = 0x1p-11F;  // by which rounding to f16 changes a number at most, relatively

// Random blocks with scales near 0.01. halves: where f16 scales stand in a block, in bytes.
struct Stored {
  Dtype dtype;
  std::vector<std::byte> bytes;

  Stored(Dtype type, std::initializer_list<size_t> halves) : dtype(type), bytes(kRows * matrix().row_bytes()) {
    std::mt19937 random(11);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    for (size_t block = 0; block < bytes.size(); block += block_of(type).bytes) {
      for (const size_t at : halves)
        store_half(&bytes[block + at], f32_to_f16(std::normal_distribution<float>(0.01F, 0.002F)(random)));
    }
  }
  HostMatrix matrix() const { return {.name = "m", .dtype = dtype, .rows = kRows, .cols = kCols, .bytes = bytes}; }
};

// Packs a matrix in its own format. seen: called with what a row stands for in the file, and in the
// panels.
template <class Seen>
void pack(const Stored& stored, const Seen& seen) {
  const HostMatrix matrix = stored.matrix();
  const WeightFormat format = format_of(stored.dtype);
  for (const PanelLayout layout : {PanelLayout::words, PanelLayout::rows}) {
    std::vector<std::byte> panels(static_cast<size_t>(panel_bytes(format, kCols)));
    RowPacker packer(format, layout, kCols);
    for (int32_t row = 0; row < kRows; ++row) ASSERT_TRUE(packer.pack(matrix, row, row, panels.data()));
    for (int32_t row = 0; row < kRows; ++row) {
      std::vector<float> file(kCols), packed(kCols);
      read_row(matrix, row, file);
      unpack_row(format, layout, panels.data(), kCols, row, packed.data());
      seen(file, packed);
    }
  }
}

TEST(RowPacker, KeepsEachNumberOfBlocksOf32) {
  for (const Stored& stored : {Stored(Dtype::q8_0, {0}), Stored(Dtype::q4_0, {0}), Stored(Dtype::q4_1, {0, 2}),
                               Stored(Dtype::q5_0, {0}), Stored(Dtype::q5_1, {0, 2}), Stored(Dtype::iq4_nl, {0})}) {
    pack(stored, [](const auto& file, const auto& packed) { EXPECT_EQ(packed, file); });
  }
}

// Only the scale of a run is rounded, so all numbers of a run move by one factor.
TEST(RowPacker, RoundsTheScalesAlone) {
  for (const Stored& stored : {Stored(Dtype::iq4_xs, {0}), Stored(Dtype::q3_k, {108}), Stored(Dtype::q6_k, {208})}) {
    pack(stored, [](const auto& file, const auto& packed) {
      for (size_t i = 0; i < file.size(); ++i) ASSERT_NEAR(packed[i], file[i], std::abs(file[i]) * kHalfStep * 1.001F);
    });
  }
}

// A number of q4_k or q5_k is scale * q - minimum, and each of the two is rounded.
TEST(RowPacker, KeepsTheQOfK4AndK5) {
  for (const Dtype dtype : {Dtype::q4_k, Dtype::q5_k}) {
    const float most_q = dtype == Dtype::q4_k ? 15 : 31;
    pack(Stored(dtype, {0, 2}), [most_q](const auto& file, const auto& packed) {
      for (size_t i = 0; i < file.size(); ++i) {
        const float scale_part = 0.02F * 63 * most_q, minimum_part = 0.02F * 63;  // at most, with these scales
        ASSERT_NEAR(packed[i], file[i], (scale_part + minimum_part) * kHalfStep);
      }
    });
  }
}

TEST(RowPacker, RoundsTwoBitsWithMinimaToEight) {
  pack(Stored(Dtype::q2_k, {80, 82}), [](const auto& file, const auto& packed) {
    for (size_t group = 0; group < file.size(); group += kGroupColumns) {
      float most = 0;
      for (size_t i = group; i < group + kGroupColumns; ++i) most = std::max(most, std::abs(file[i]));
      for (size_t i = group; i < group + kGroupColumns; ++i) ASSERT_NEAR(packed[i], file[i], most * (0.5F / 127 + kHalfStep));
    }
  });
}

TEST(RowPacker, RefusesARowWhoseScaleIsNotFinite) {
  Stored stored(Dtype::q4_k, {0, 2});
  store_half(stored.bytes.data() + stored.matrix().row_bytes(), 0x7C00);  // infinity, in the second row
  std::vector<std::byte> panels(static_cast<size_t>(panel_bytes(WeightFormat::q4_1, kCols)));
  RowPacker packer(WeightFormat::q4_1, PanelLayout::words, kCols);
  EXPECT_TRUE(packer.pack(stored.matrix(), 0, 0, panels.data()));
  EXPECT_FALSE(packer.pack(stored.matrix(), 1, 1, panels.data()));
}

}  // namespace
}  // namespace slipstream
