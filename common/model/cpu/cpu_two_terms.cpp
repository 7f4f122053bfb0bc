#include "common/model/cpu/cpu_two_terms.h"

#include <algorithm>
#include <cstring>

#include "common/base/check.h"

namespace slipstream {
namespace {

// left [cols] = in - its rounded row. An outlier is whole in that row.
void subtract(const float* in, const ActivationGroup* row, int32_t cols, float* left) {
  for (int32_t col = 0; col < cols; ++col) {
    const ActivationGroup& group = row[col / kGroupColumns];
    left[col] = in[col] - group.scale * static_cast<float>(group.values[col % kGroupColumns]);
  }
  for (const Outlier* each = outliers(row, cols); each->column != kNoColumn; ++each) left[each->column] = 0;
}

}  // namespace

void CpuTwoTerms::reserve(int32_t rows_max, int32_t cols_max) {
  first_.reserve(rows_max, cols_max);
  rest_.reserve(rows_max, cols_max);
  left_.resize(static_cast<size_t>(rows_max) * static_cast<size_t>(cols_max));
  both_.resize(lines_of(activation_bytes(Activations::int8, kFewRows, cols_max)));
  shared_.resize(static_cast<size_t>(kFewRows / kSharingRows * shared_outliers_max(cols_max)));
}

TwoTerms CpuTwoTerms::round(Tensor in) {
  TwoTerms terms{.first = first_.round(in, Activations::int8), .rest = {}, .both = {}};
  const Tensor left{.data = left_.data(), .rows = in.rows, .cols = in.cols, .type = in.type};
  const auto* rounded = static_cast<const ActivationGroup*>(terms.first.rows);
  pool_.run(in.rows, grain_for(kRangeElements, in.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      subtract(row_of(in, row), rounded + int64_t{row} * activation_groups(in.cols), in.cols, row_of(left, row));
    }
  });
  terms.rest = rest_.round(left, Activations::int8);
  return terms;
}

TwoTerms CpuTwoTerms::round_joined(Tensor in) {
  TwoTerms terms = round(in);
  if (2 * in.rows > kFewRows) return terms;
  const auto bytes = static_cast<size_t>(activation_bytes(Activations::int8, in.rows, in.cols));
  auto* both = reinterpret_cast<std::byte*>(both_.data());
  std::memcpy(both, terms.first.rows, bytes);
  std::memcpy(both + bytes, terms.rest.rows, bytes);
  kernels_.share_outliers(reinterpret_cast<const ActivationGroup*>(both), 2 * in.rows, in.cols, shared_.data());
  terms.both = {.rows = both, .shared = shared_.data()};
  return terms;
}

void run_two_terms(const LinearKernel& kernel, WeightFormat format, const LinearArgs& args, const TwoTerms& rows, int32_t begin,
                   int32_t end, std::span<float> sums) {
  CHECK(kernel.in == Activations::int8 && sums.size() >= two_term_sums(args.rows), "no two terms of {} rows", args.rows);
  const bool joined = rows.both.rows != nullptr;
  const int32_t together = joined ? kJoinedPanels : kTwoTermPanels;
  // Of the second terms alone, or of both.
  LinearArgs part = with_rows(args, joined ? rows.both : rows.rest);
  part.rows = joined ? 2 * args.rows : args.rows;
  part.out = sums.data();
  part.out_stride = int64_t{together} * kPanelRows;
  const float* rest = sums.data() + (joined ? args.rows * part.out_stride : 0);
  for (int32_t panel = begin; panel < end; panel += together) {
    const int32_t panels = std::min(together, end - panel), column = panel * kPanelRows;
    part.panels = args.panels + panel * panel_bytes(format, args.in_cols);
    part.out_cols = std::min(panels * kPanelRows, args.out_cols - column);
    if (!joined) kernel.run(with_rows(args, rows.first), panel, panel + panels);
    kernel.run(part, 0, panels);
    for (int32_t row = 0; row < args.rows; ++row) {
      float* out = args.out + row * args.out_stride + column;
      const float* first = joined ? sums.data() + row * part.out_stride : out;
      const float* second = rest + row * part.out_stride;
      for (int32_t i = 0; i < part.out_cols; ++i) out[i] = first[i] + second[i];
    }
  }
}

}  // namespace slipstream
