// linear of every path that this machine has and of every weight format: against the plainest
// computation in double precision over the same packed numbers, over sizes that fill groups and
// panels and sizes that do not; and of many rows against one, to the bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream {
namespace {

// To the nearest bf16, halves away from zero (kernels/cpu/widen_rows.h).
float halves_away(float value) { return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x8000) & 0xFFFF0000); }

// A matrix of normal numbers in a format.
struct Matrix {
  WeightFormat format;
  PanelLayout layout;
  int32_t in, out;
  std::vector<std::byte> panels = std::vector<std::byte>(at(panels_of(out) * panel_bytes(format, in)));

  void set(int32_t row, const std::vector<float>& values) {
    pack_floats(format, layout, values.data(), in, row, panels.data());
  }
  Matrix& sampled() {
    for (int32_t r = 0; r < out; ++r) set(r, normal(in, static_cast<uint32_t>(100 + r)));
    return *this;
  }
  std::vector<float> row(int32_t r) const {
    std::vector<float> values(at(in));
    unpack_row(format, layout, panels.data(), in, r, values.data());
    return values;
  }
};

// How a kernel is run.
struct How {
  bool by_panel = false, share = true;
};

class Linear : public testing::TestWithParam<CpuPath> {
 protected:
  static constexpr float kGuard = 12345.0F;
  static constexpr int32_t kGuards = 3;  // columns behind the last
  const Kernels& k = kernels(GetParam());

  // [rows] of activations as the format's kernel reads them.
  std::vector<std::byte> activations(WeightFormat format, const std::vector<float>& x, int32_t in) const {
    return activations(linear_kernel(k, format).in, x, in);
  }
  std::vector<std::byte> activations(Activations kind, const std::vector<float>& x, int32_t in) const {
    const auto rows = static_cast<int32_t>(std::ssize(x) / in);
    std::vector<std::byte> result(at(activation_bytes(kind, rows, in)));
    for (int32_t r = 0; r < rows; r += rounded_together(kind)) round_activations(k, kind, x.data(), rows, in, r, result.data());
    return result;
  }

  // What those activations say, [rows, in].
  std::vector<double> said(WeightFormat format, const std::vector<std::byte>& from, const std::vector<float>& x,
                           int32_t in) const {
    std::vector<double> values(x.begin(), x.end());
    const Activations kind = linear_kernel(k, format).in;
    if (kind == Activations::bf16 || kind == Activations::bf16_pairs) {
      std::ranges::transform(x, values.begin(), [](float each) { return bf16_to_f32(f32_to_bf16(each)); });
    }
    if (kind != Activations::int8) return values;
    for (int64_t first = 0; first < std::ssize(x); first += in) {
      const auto* row = reinterpret_cast<const ActivationGroup*>(from.data()) + first / in * activation_groups(in);
      for (int32_t i = 0; i < in; ++i) values[at(first + i)] = double{row[i / 32].scale} * row[i / 32].values[i % 32];
      for (const Outlier* each = outliers(row, in); each->column != kNoColumn; ++each) {
        EXPECT_EQ(row[each->column / 32].values[each->column % 32], 0);
        values[at(first + each->column)] = double{each->value};
      }
    }
    return values;
  }

  // What the kernel makes of a row of the matrix.
  std::vector<float> weights(const Matrix& matrix, int32_t r) const {
    std::vector<float> values = matrix.row(r);
    if (linear_kernel(k, matrix.format).in == Activations::bf16_pairs) {
      for (float& each : values) each = most_q(matrix.format) > 31 ? bf16_to_f32(f32_to_bf16(each)) : halves_away(each);
    }
    return values;
  }
  Matrix empty(WeightFormat format, int32_t in, int32_t out) const {
    return {.format = format, .layout = linear_kernel(k, format).layout, .in = in, .out = out};
  }

  // The outliers of these activations by columns, and the columns alone.
  std::vector<SharedOutlier> shared(const std::vector<std::byte>& in, int32_t rows, int32_t cols) const {
    std::vector<SharedOutlier> result(at((rows + kSharingRows - 1) / kSharingRows * shared_outliers_max(cols)));
    k.share_outliers(reinterpret_cast<const ActivationGroup*>(in.data()), rows, cols, result.data());
    return result;
  }
  std::vector<int32_t> outlier_columns(const std::vector<std::byte>& in, int32_t rows, int32_t cols) const {
    std::vector<int32_t> result(at(outlier_columns_max(rows, cols)));
    k.outlier_columns(reinterpret_cast<const ActivationGroup*>(in.data()), rows, cols, result.data());
    return result;
  }

  // [rows, out + kGuards]
  std::vector<float> run(const Matrix& matrix, const std::vector<std::byte>& in, int32_t rows, How how = {}) const {
    const LinearKernel& kernel = linear_kernel(k, matrix.format);
    std::vector<SharedOutlier> outliers;
    std::vector<int32_t> columns;
    if (how.share && kernel.in == Activations::int8) {
      if (rows <= kFewRows) outliers = shared(in, rows, matrix.in);
      if (rows > kFewRows) columns = outlier_columns(in, rows, matrix.in);
    }
    std::vector<float> out(at(int64_t{rows} * (matrix.out + kGuards)), kGuard);
    const LinearArgs args{.in = in.data(),
                          .panels = matrix.panels.data(),
                          .out = out.data(),
                          .out_stride = matrix.out + kGuards,
                          .rows = rows,
                          .in_cols = matrix.in,
                          .out_cols = matrix.out,
                          .shared = outliers.empty() ? nullptr : outliers.data(),
                          .outlier_columns = columns.empty() ? nullptr : columns.data()};
    if (!how.by_panel) kernel.run(args, 0, panels_of(matrix.out));
    for (int32_t p = panels_of(matrix.out) - 1; p >= 0 && how.by_panel; --p) kernel.run(args, p, p + 1);
    return out;
  }
};

// Normal numbers, with a few columns of each third row a hundred times as large: column 5 of all of
// these rows, and others of each.
std::vector<float> with_outliers(int64_t rows, int32_t in, uint32_t seed) {
  std::vector<float> x = normal(rows * in, seed);
  for (int64_t i = 0; i < std::ssize(x); ++i) {
    const int64_t row = i / in, column = i % in;
    if (row % 3 == 0 && (column == 5 || (column + row) % 37 == 5)) x[at(i)] *= 100;
  }
  return x;
}

struct Size {
  int32_t rows, in, out;
};
constexpr Size kTellingSizes[] = {{1, 2, 1},     {3, 42, 50},  {12, 64, 64},  {13, 96, 33},
                                  {16, 576, 96}, {29, 30, 31}, {9, 1536, 64}, {5, 160, 17}};

// Those, and any others.
std::vector<Size> sizes() {
  std::vector<Size> sizes(std::begin(kTellingSizes), std::end(kTellingSizes));
  std::mt19937 random(6);
  std::uniform_int_distribution<int32_t> rows(1, 40), pairs(1, 150), out(1, 100);
  for (int i = 0; i < 24; ++i) sizes.push_back({rows(random), 2 * pairs(random), out(random)});
  return sizes;
}

TEST_P(Linear, MultipliesWhatWasPackedByWhatWasRounded) {
  for (const WeightFormat format : kAllWeightFormats) {
    for (const auto& [rows, in, out] : sizes()) {
      const Matrix matrix = empty(format, in, out).sampled();
      const std::vector<float> x = with_outliers(rows, in, 1);
      const auto input = activations(format, x, in);
      const auto columns = said(format, input, x, in);
      const std::vector<float> y = run(matrix, input, rows);
      for (int32_t o = 0; o < out; ++o) {
        const std::vector<float> of = weights(matrix, o);
        for (int32_t r = 0; r < rows; ++r) {
          double exact = 0, size = 0;
          for (int32_t c = 0; c < in; ++c) {
            const double term = double{of[at(c)]} * columns[at(int64_t{r} * in + c)];
            exact += term;
            size += std::abs(term);
          }
          EXPECT_NEAR(y[at(int64_t{r} * (out + kGuards) + o)], exact, size * (has_minimum(format) ? 1e-5 : 2e-6) + 1e-6)
              << name(format) << " " << rows << "x" << in << "x" << out;
        }
      }
      for (int32_t r = 0; r < rows; ++r) {
        for (int32_t o = out; o < out + kGuards; ++o) {
          EXPECT_EQ(y[at(int64_t{r} * (out + kGuards) + o)], kGuard) << name(format) << " wrote past the columns";
        }
      }
    }
  }
}

TEST_P(Linear, GivesARowTheSameBitsAloneAndAmongMany) {
  constexpr int32_t kRows = 37, kIn = 298, kOut = 70;
  for (const WeightFormat format : kAllWeightFormats) {
    const Matrix matrix = empty(format, kIn, kOut).sampled();
    const std::vector<float> x = with_outliers(kRows, kIn, 1);
    const auto input = activations(format, x, kIn);
    const std::vector<float> all = run(matrix, input, kRows);
    EXPECT_EQ(run(matrix, input, kRows, {.by_panel = true}), all) << name(format) << " panel by panel";
    EXPECT_EQ(run(matrix, input, kRows, {.share = false}), all) << name(format) << " outliers row by row";
    for (int32_t rows = 1; rows < kRows; ++rows) {
      // The last `rows` of them, so that each stands at another place of its tile.
      const std::vector<float> last(x.end() - int64_t{rows} * kIn, x.end());
      const auto some = activations(format, last, kIn);
      const auto begin = all.end() - int64_t{rows} * (kOut + kGuards);
      EXPECT_EQ(run(matrix, some, rows), std::vector<float>(begin, all.end())) << name(format) << " among " << rows;
    }
  }
}

// The largest products of each sign: nothing saturates, and integers this small are exact in f32.
TEST_P(Linear, IsExactAtTheEndsOfTheIntegers) {
  const uint16_t one = 0x3C00;
  for (const WeightFormat format : kAllWeightFormats) {
    if (format == WeightFormat::bf16) continue;
    for (const int q : {format == WeightFormat::q8_0 ? 1 : 0, most_q(format)}) {
      Matrix matrix = empty(format, 32, 32);
      QuantizedBlock same{.scale = one, .second = has_minimum(format) ? uint16_t{0} : one};
      std::ranges::fill(same.q, static_cast<uint8_t>(q));
      std::vector<std::byte> block(at(block_bytes(format)));
      same.write(format, block.data());
      for (int32_t r = 0; r < 32; ++r) pack_blocks(format, matrix.layout, block.data(), 32, r, matrix.panels.data());
      for (const float x : {-127.0F, 127.0F}) {
        const std::vector<float> y = run(matrix, activations(format, std::vector<float>(32, x), 32), 1);
        for (size_t o = 0; o < 32; ++o) EXPECT_EQ(y[o], 32 * x * static_cast<float>(q - zero_of(format))) << name(format);
      }
    }
  }
  // A file's q8_0 may hold -128, too.
  Matrix matrix = empty(WeightFormat::q8_0, 32, 1);
  std::vector<std::byte> block(34, std::byte{0x80});
  std::memcpy(block.data(), &one, 2);
  pack_blocks(WeightFormat::q8_0, matrix.layout, block.data(), 32, 0, matrix.panels.data());
  for (const float x : {-127.0F, 127.0F}) {
    EXPECT_EQ(run(matrix, activations(WeightFormat::q8_0, std::vector<float>(32, x), 32), 1)[0], 32 * x * -128);
  }
}

// Weights that are widened on their way give what the same numbers give that were stored in bf16.
TEST_P(Linear, WidensSmallFormatsToTheBitsOfBf16) {
  for (const WeightFormat format : kAllWeightFormats) {
    if (linear_kernel(k, format).in != Activations::bf16_pairs) continue;
    for (const auto& [rows, in, out] :
         {Size{1, 576, 96}, {7, 1536, 40}, {16, 64, 33}, {31, 640, 64}, {40, 1536, 33}, {300, 576, 70}}) {
      const Matrix small = empty(format, in, out).sampled();
      Matrix wide = empty(WeightFormat::bf16, in, out);
      for (int32_t r = 0; r < out; ++r) wide.set(r, weights(small, r));
      const std::vector<float> x = with_outliers(rows, in, 3);
      EXPECT_EQ(run(small, activations(format, x, in), rows), run(wide, activations(WeightFormat::bf16, x, in), rows))
          << name(format) << " " << rows << "x" << in << "x" << out;
    }
  }
}

TEST_P(Linear, RoundsActivationsToInt8AlikeOnEveryPath) {
  for (const int32_t cols : {1, 16, 31, 32, 33, 50, 576}) {
    const std::vector<float> x = with_outliers(1, cols, 7);
    std::vector<ActivationGroup> ours(at(activation_groups(cols))), twin(ours.size());
    k.to_int8(x.data(), cols, ours.data());
    kPortableKernels.to_int8(x.data(), cols, twin.data());
    EXPECT_EQ(std::memcmp(ours.data(), twin.data(), ours.size() * sizeof(ActivationGroup)), 0) << cols;
    std::vector<float> rounded(at(groups_of(cols) * 32));
    std::ranges::copy(x, rounded.begin());
    for (const Outlier* each = outliers(ours.data(), cols); each->column != kNoColumn; ++each) rounded[at(each->column)] = 0;
    for (int32_t g = 0; g < groups_of(cols); ++g) {
      const ActivationGroup& group = ours[at(g)];
      int sum = 0, first_half = 0;
      for (int32_t i = 0; i < 32; ++i) {
        EXPECT_NEAR(group.scale * group.values[i], rounded[at(g * 32 + i)], group.scale * 0.501F);
        sum += group.values[i];
        first_half += i < 16 ? group.values[i] : 0;
      }
      EXPECT_EQ(group.total, group.scale * static_cast<float>(sum));
      EXPECT_EQ(group.bias[0], -8 * sum);
      EXPECT_EQ(group.bias[1], -128 * sum);
      EXPECT_EQ(group.bias[2], -32 * first_half);
    }
  }
}

TEST_P(Linear, KeepsColumnsThatAreLargeBesideTheirRowInF32) {
  constexpr int32_t kCols = 160;
  std::vector<float> x = normal(kCols, 8);
  x[40] = 300.0F;
  x[41] = 2.0F;
  x[159] = -200.0F;
  std::vector<ActivationGroup> row(at(activation_groups(kCols)));
  k.to_int8(x.data(), kCols, row.data());
  const Outlier* found = outliers(row.data(), kCols);
  EXPECT_EQ(std::pair(found[0].column, found[0].value), std::pair(40, 300.0F));
  EXPECT_EQ(std::pair(found[1].column, found[1].value), std::pair(159, -200.0F));
  EXPECT_EQ(found[2].column, kNoColumn);
  EXPECT_NEAR(row[1].scale * row[1].values[9], 2.0F, 0.02F) << "an outlier's neighbour is rounded as if it were not there";
}

// Columns beyond the first bit set (share_outliers.h) are among them, and rows without any.
TEST_P(Linear, JoinsOutliersByColumns) {
  constexpr int32_t kRows = 7, kCols = 4500;
  const std::vector<float> x = with_outliers(kRows, kCols, 5);
  const std::vector<std::byte> in = activations(Activations::int8, x, kCols);
  const std::vector<SharedOutlier> joined = shared(in, kRows, kCols);
  for (int32_t r = 0; r < kRows; ++r) {
    const Outlier* own =
        outliers(reinterpret_cast<const ActivationGroup*>(in.data()) + int64_t{r} * activation_groups(kCols), kCols);
    int32_t before = -1;
    for (const SharedOutlier* each = &joined[at(r / kSharingRows * shared_outliers_max(kCols))]; each->column != kNoColumn;
         ++each) {
      EXPECT_GT(each->column, std::exchange(before, each->column));
      const bool has = own->column == each->column;
      EXPECT_EQ(each->values[r % kSharingRows], has ? own->value : 0.0F) << "row " << r << ", column " << each->column;
      own += has ? 1 : 0;
    }
    EXPECT_EQ(own->column, kNoColumn) << "row " << r;
  }
}

TEST_P(Linear, FindsTheColumnsOfAllOutliers) {
  constexpr int32_t kRows = 13, kCols = 4500;
  const std::vector<std::byte> in = activations(Activations::int8, with_outliers(kRows, kCols, 5), kCols);
  std::set<int32_t> columns;
  for (int32_t r = 0; r < kRows; ++r) {
    const auto* row = reinterpret_cast<const ActivationGroup*>(in.data()) + int64_t{r} * activation_groups(kCols);
    for (const Outlier* each = outliers(row, kCols); each->column != kNoColumn; ++each) columns.insert(each->column);
  }
  std::vector<int32_t> expected(columns.begin(), columns.end());
  expected.push_back(kNoColumn);
  std::vector<int32_t> found = outlier_columns(in, kRows, kCols);
  found.resize(expected.size());
  EXPECT_EQ(found, expected);
}

// More rows and columns than are unpacked for at once (outliers.h).
TEST_P(Linear, AddsTheOutliersOfAnyNumberOfRowsAndColumns) {
  constexpr int32_t kRows = 260, kIn = 2500, kOut = 33;
  const Matrix matrix = empty(WeightFormat::q4_1, kIn, kOut).sampled();
  const auto in = activations(WeightFormat::q4_1, with_outliers(kRows, kIn, 9), kIn);
  EXPECT_EQ(run(matrix, in, kRows), run(matrix, in, kRows, {.share = false}));
}

// Rows of which some columns are alike and the others 0, or so small that their squares are.
TEST_P(Linear, HasMemoryForTheMostOutliers) {
  for (const int32_t cols : {9, 12, 13, 18, 26, 27, 32, 45, 50, 576, 1536}) {
    for (int32_t large = 1; large <= cols; ++large) {
      for (const float size : {1.1F, 1e-22F}) {
        std::vector<float> x(at(cols), size == 1.1F ? 0.0F : size * 0.2F);
        for (int32_t i = 0; i < large; ++i) x[at(i * (cols / large))] = i % 2 == 0 ? size : -size;
        std::vector<ActivationGroup> row(at(activation_groups(cols)));
        k.to_int8(x.data(), cols, row.data());
        int32_t count = 0;
        while (outliers(row.data(), cols)[count].column != kNoColumn) ASSERT_LT(++count, outliers_max(cols));
        ASSERT_TRUE(count == 0 || count == large) << cols << " columns, " << large << " of " << size;
      }
    }
  }
}

TEST_P(Linear, PassesOnWhatIsNotFinite) {
  for (const WeightFormat format : kAllWeightFormats) {
    const Matrix matrix = empty(format, 64, 32).sampled();
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> x = normal(2 * 64, 1);
      x[40] = bad;
      const std::vector<float> y = run(matrix, activations(format, x, 64), 2);
      for (size_t o = 0; o < 32; ++o) {
        EXPECT_FALSE(std::isfinite(y[o])) << name(format);
        EXPECT_TRUE(std::isfinite(y[32 + at(kGuards) + o])) << name(format) << " spoilt its neighbour";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, Linear, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace slipstream
