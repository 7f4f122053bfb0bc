#include "common/model/cpu/cpu_screen.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/check.h"

namespace slipstream {
namespace {

constexpr int32_t kPackedPanels = 16;      // by a thread at a time
constexpr double kNormSlack = 1 + 1e-6;    // more than f64 sums of some thousand numbers, and the rounding to f32, can lose
constexpr float kNormMost = 1e30F;         // beyond it products may overflow: such a row is computed whole
constexpr double kUnit = 1.0 / (1 << 24);  // the largest relative error of an f32 operation

// Terms and roundings of one logit: two a group for its numbers, two for its minimum, one for each
// outlier, and some to spare for the bound itself.
double rounding_of(int32_t in) { return (4.0 * groups_of(in) + outliers_max(in) + 16) * kUnit; }

class RowScreener {
 public:
  RowScreener(const Kernels& kernels, int32_t in)
      : exact_(linear_kernel(kernels, WeightFormat::q8_0).layout),
        coarse_(linear_kernel(kernels, WeightFormat::q5_1).layout),
        in_(in),
        weights_(static_cast<size_t>(in)),
        copied_(static_cast<size_t>(in)),
        blocks_(static_cast<size_t>(groups_of(in) * block_bytes(WeightFormat::q5_1))) {}

  struct Bound {
    float off, norm;
  };
  // Copies a row, and returns how far the copy is off, and how long the row is.
  Bound copy(const std::byte* head, int32_t row, std::byte* panels) {
    unpack_row(WeightFormat::q8_0, exact_, head, in_, row, weights_.data());
    quantize(WeightFormat::q5_1, weights_.data(), in_, blocks_.data());
    pack_blocks(WeightFormat::q5_1, coarse_, blocks_.data(), in_, row, panels);
    unpack_row(WeightFormat::q5_1, coarse_, panels, in_, row, copied_.data());
    double off = 0, magnitudes = 0, own = 0;
    for (int32_t col = 0; col < in_; ++col) {
      const auto at = static_cast<size_t>(col);
      const std::byte* block = blocks_.data() + col / kBlockNumbers * block_bytes(WeightFormat::q5_1);
      const double minimum = std::abs(f16_to_f32(load_half(block + kScaleBytes)));
      const double weight = weights_[at], copied = copied_[at];
      off += (weight - copied) * (weight - copied);
      const double magnitude = std::abs(weight) + std::abs(copied) + 2 * minimum;  // of q scale and the minimum apart
      magnitudes += magnitude * magnitude;
      own += weight * weight;
    }
    return {.off = static_cast<float>((std::sqrt(off) + rounding_of(in_) * std::sqrt(magnitudes)) * kNormSlack),
            .norm = static_cast<float>(std::sqrt(own) * (1 + rounding_of(in_)) * kNormSlack)};
  }

 private:
  PanelLayout exact_, coarse_;
  int32_t in_;
  std::vector<float> weights_, copied_;
  std::vector<std::byte> blocks_;
};

const ActivationGroup* row_of(const ReadRows& read, int32_t row, int32_t cols) {
  return static_cast<const ActivationGroup*>(read.rows) + int64_t{row} * activation_groups(cols);
}

// |x| of a row of rounded activations: at least it, and at most 1e-5 more.
float norm_of(const ActivationGroup* row, int32_t cols) {
  double squares = 0;
  for (int32_t group = 0; group < groups_of(cols); ++group) {
    int32_t sum = 0;
    for (const int8_t value : row[group].values) sum += value * value;
    const double scale = row[group].scale;
    squares += scale * scale * sum;
  }
  for (const Outlier* each = outliers(row, cols); each->column != kNoColumn; ++each) {
    squares += static_cast<double>(each->value) * each->value;
  }
  return static_cast<float>(std::sqrt(squares) * kNormSlack);
}

}  // namespace

CpuScreen make_screen(const Kernels& kernels, ThreadPool& pool, const CpuPanels& head, int32_t in, std::byte* panels,
                      float* off, float* norm) {
  pool.run(panels_of(head.rows), kPackedPanels, [&](int32_t begin, int32_t end, int) {
    RowScreener screener(kernels, in);
    for (int32_t row = begin * kPanelRows; row < std::min(end * kPanelRows, head.rows); ++row) {
      const auto bound = screener.copy(head.panels, row, panels);
      off[row] = bound.off;
      norm[row] = bound.norm;
    }
  });
  CpuScreen screen;
  screen.in = in;
  screen.out = head.rows;
  screen.copy = {.panels = panels, .format = WeightFormat::q5_1, .rows = head.rows};
  screen.off = off;
  screen.norm = norm;
  return screen;
}

void ScreenedOutput::reserve(int32_t out) {
  panels_ = std::max(panels_, static_cast<size_t>(panels_of(out)));
  highest_.resize(panels_ * kScreenedRowsMax);
  candidates_.reserve(panels_);
}

// Adds to the panel's products by the copy how far they may be off, and what second terms may add.
void ScreenedOutput::bound(const LinearArgs& args, const CpuScreen& screen, int32_t panel) {
  const int32_t first = panel * kPanelRows, columns = std::min(kPanelRows, args.out_cols - first);
  for (int32_t row = 0; row < args.rows; ++row) {
    float* logits = args.out + row * args.out_stride + first;
    float most = -std::numeric_limits<float>::infinity();
    for (int32_t i = 0; i < columns; ++i) {
      logits[i] += screen.off[first + i] * norms_[row] + screen.norm[first + i] * rests_[row];
      most = std::max(most, logits[i]);
    }
    highest(row)[panel] = most;
  }
}

// The logits of a panel.
void ScreenedOutput::compute(const LinearArgs& args, const TwoTerms& rows, const CpuPanels& head, int32_t panel) const {
  float sums[two_term_sums(kScreenedRowsMax)];
  run_two_terms(linear_kernel(kernels_, head.format), head.format, args, rows, panel, panel + 1, sums);
}

// Computes the panel of a row that has its highest bound, and returns the highest logit there.
float ScreenedOutput::floor(const LinearArgs& args, const TwoTerms& rows, const CpuPanels& head, int32_t row) {
  if (!(norms_[row] < kNormMost)) return -std::numeric_limits<float>::infinity();  // also if it is NaN
  const int32_t panels = panels_of(args.out_cols);
  const auto panel = static_cast<int32_t>(std::max_element(highest(row), highest(row) + panels) - highest(row));
  LinearArgs one = args;
  one.out = args.out + row * args.out_stride;
  one.rows = 1;
  compute(one, {{row_of(rows.first, row, args.in_cols)}, {row_of(rows.rest, row, args.in_cols)}, {}}, head, panel);
  const float* logits = one.out + panel * kPanelRows;
  return *std::max_element(logits, logits + std::min(kPanelRows, args.out_cols - panel * kPanelRows));
}

void ScreenedOutput::run(const TwoTerms& rows, const CpuPanels& head, const CpuScreen& screen, Tensor logits) {
  CHECK(logits.rows >= 1 && logits.rows <= kScreenedRowsMax, "{} rows to screen", logits.rows);
  LinearArgs args{.panels = screen.copy.panels,
                  .out = row_of(logits, 0),
                  .out_stride = logits.cols,
                  .rows = logits.rows,
                  .in_cols = screen.in,
                  .out_cols = screen.out};
  for (int32_t row = 0; row < logits.rows; ++row) {
    norms_[row] = norm_of(row_of(rows.first, row, screen.in), screen.in);
    rests_[row] = norm_of(row_of(rows.rest, row, screen.in), screen.in);
  }
  const LinearKernel& coarse = linear_kernel(kernels_, screen.copy.format);
  const LinearArgs by_copy = with_rows(args, rows.first);
  const int32_t panels = panels_of(screen.out);
  pool_.run(panels, panels_at_once(panels, pool_.threads()), [&](int32_t begin, int32_t end, int) {
    coarse.run(by_copy, begin, end);
    for (int32_t panel = begin; panel < end; ++panel) bound(by_copy, screen, panel);
  });
  args.panels = head.panels;
  for (int32_t row = 0; row < logits.rows; ++row) floors_[row] = floor(args, rows, head, row);
  candidates_.clear();
  for (int32_t panel = 0; panel < panels; ++panel) {
    for (int32_t row = 0; row < logits.rows; ++row) {
      if (highest(row)[panel] < floors_[row]) continue;
      candidates_.push_back(panel);
      break;
    }
  }
  pool_.run(static_cast<int32_t>(candidates_.size()), 1, [&](int32_t begin, int32_t end, int) {
    for (int32_t i = begin; i < end; ++i) compute(args, rows, head, candidates_[static_cast<size_t>(i)]);
  });
}

}  // namespace slipstream
