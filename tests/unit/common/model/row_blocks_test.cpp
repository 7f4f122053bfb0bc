#include "common/model/row_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "common/checkpoint/dequantise.h"
#include "tests/unit/common/model/stored_matrix.h"

namespace slipstream {
namespace {

constexpr int32_t kCols = 512, kRows = 32;
constexpr float kHalfStep = 0x1p-11F;  // by which rounding to f16 changes a number at most, relatively

struct Stored : StoredMatrix {
  Stored(Dtype type, std::initializer_list<size_t> halves) : StoredMatrix(type, kRows, kCols, halves) {}
};

// Takes each row of a matrix in its own format. seen: called with what a row stands for in the
// file, and in the format's blocks.
template <class Seen>
void take_rows(const Stored& stored, const Seen& seen) {
  const HostMatrix matrix = stored.matrix();
  const WeightFormat format = format_of(stored.dtype);
  RowBlocks blocks(format, kCols);
  for (int32_t row = 0; row < kRows; ++row) {
    std::vector<float> file(kCols), taken(kCols);
    read_row(matrix, row, file);
    const std::span<const std::byte> found = blocks.of(matrix, row);
    ASSERT_EQ(found.size(), static_cast<size_t>(kCols / kBlockNumbers * block_bytes(format)));
    for (int32_t block = 0; block < kCols / kBlockNumbers; ++block) {
      QuantizedBlock::read(format, found.data() + block * block_bytes(format))
          .numbers(format, &taken[static_cast<size_t>(block * kBlockNumbers)]);
    }
    seen(file, taken);
  }
}

TEST(RowBlocks, KeepEachNumberOfBlocksOf32) {
  for (const Stored& stored : {Stored(Dtype::q8_0, {0}), Stored(Dtype::q4_0, {0}), Stored(Dtype::q4_1, {0, 2}),
                               Stored(Dtype::q5_0, {0}), Stored(Dtype::q5_1, {0, 2}), Stored(Dtype::iq4_nl, {0})}) {
    take_rows(stored, [](const auto& file, const auto& taken) { EXPECT_EQ(taken, file); });
  }
}

// Only the scale of a run is rounded, so all numbers of a run move by one factor.
TEST(RowBlocks, RoundTheScalesAlone) {
  for (const Stored& stored : {Stored(Dtype::iq4_xs, {0}), Stored(Dtype::q3_k, {108}), Stored(Dtype::q6_k, {208})}) {
    take_rows(stored, [](const auto& file, const auto& taken) {
      for (size_t i = 0; i < file.size(); ++i) ASSERT_NEAR(taken[i], file[i], std::abs(file[i]) * kHalfStep * 1.001F);
    });
  }
}

// A number of q4_k or q5_k is scale * q - minimum, and each of the two is rounded.
TEST(RowBlocks, KeepTheQOfK4AndK5) {
  for (const Dtype dtype : {Dtype::q4_k, Dtype::q5_k}) {
    const float most_q = dtype == Dtype::q4_k ? 15 : 31;
    take_rows(Stored(dtype, {0, 2}), [most_q](const auto& file, const auto& taken) {
      for (size_t i = 0; i < file.size(); ++i) {
        const float scale_part = 0.02F * 63 * most_q, minimum_part = 0.02F * 63;  // at most, with these scales
        ASSERT_NEAR(taken[i], file[i], (scale_part + minimum_part) * kHalfStep);
      }
    });
  }
}

TEST(RowBlocks, RoundTwoBitsWithMinimaToEight) {
  take_rows(Stored(Dtype::q2_k, {80, 82}), [](const auto& file, const auto& taken) {
    for (size_t group = 0; group < file.size(); group += static_cast<size_t>(kBlockNumbers)) {
      float most = 0;
      for (size_t i = group; i < group + static_cast<size_t>(kBlockNumbers); ++i) most = std::max(most, std::abs(file[i]));
      for (size_t i = group; i < group + static_cast<size_t>(kBlockNumbers); ++i)
        ASSERT_NEAR(taken[i], file[i], most * (0.5F / 127 + kHalfStep));
    }
  });
}

TEST(RowBlocks, RefuseARowWhoseScaleIsNotFinite) {
  Stored stored(Dtype::q4_k, {0, 2});
  store_half(stored.bytes.data() + stored.matrix().row_bytes(), 0x7C00);  // infinity, in the second row
  RowBlocks blocks(WeightFormat::q4_1, kCols);
  EXPECT_FALSE(blocks.of(stored.matrix(), 0).empty());
  EXPECT_TRUE(blocks.of(stored.matrix(), 1).empty());
}

}  // namespace
}  // namespace slipstream
