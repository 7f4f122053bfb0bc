#include "common/engine/cost_model.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace slipstream {
namespace {

// The place of a number of rows in the table: at the fraction `part` between entries `below` and
// below + 1. Beyond the table part is over 1, which extrapolates.
struct Between {
  size_t below = 0;
  double part = 0;
};

Between find(int32_t rows) {
  const auto above = std::ranges::upper_bound(kCostRows.begin() + 1, kCostRows.end() - 1, rows);
  const auto below = static_cast<size_t>(above - kCostRows.begin()) - 1;
  return {below, double(rows - kCostRows[below]) / (kCostRows[below + 1] - kCostRows[below])};
}

// Raises entries so that more rows never take less time. Timing noise would otherwise make
// rows_within() and the row budget prefer a larger step.
void level(StepTimes& times) {
  for (size_t i = 1; i < times.size(); ++i) times[i] = std::max(times[i], times[i - 1]);
}

}  // namespace

// Row i of the chunk (from 1) sees position + i positions, itself included; the last one sees all
// that the chunk reads.
StepLoad StepLoad::with(int32_t more, int32_t position) const {
  const int64_t count = more;
  return {rows + more, pairs + count * position + count * (count + 1) / 2, reads + position + count};
}

CostModel::CostModel(const StepTimes& times, const AttentionPrices& attention) : times_(times), attention_(attention) {
  for (const double seconds : times) CHECK(std::isfinite(seconds) && seconds > 0, "a step of {} s", seconds);
  for (const double seconds : {attention.pair, attention.read}) {
    CHECK(std::isfinite(seconds) && seconds >= 0, "a pair or a read of {} s", seconds);
  }
  level(times_);
}

CostModel CostModel::fixed(double seconds) {
  StepTimes times;
  times.fill(seconds);
  CostModel model(times, {});
  model.fixed_ = true;
  return model;
}

double CostModel::seconds(StepLoad step) const { return step.rows < 1 ? 0 : forward_seconds(step) + overhead_; }

double CostModel::forward_seconds(StepLoad step) const {
  const auto [below, part] = find(step.rows);
  const double rows = times_[below] + part * (times_[below + 1] - times_[below]);
  return speed_ * (rows + attention_.seconds(step));
}

// surprise is clamped, so that one step that a hiccup made long changes little.
void CostModel::ran(StepLoad step, double forward_seconds, double overhead_seconds) {
  if (fixed_ || step.rows < 1 || !(forward_seconds > 0)) return;
  overhead_ += kCostSpeedWeight * (std::clamp(overhead_seconds, 0.0, kCostOverheadMost) - overhead_);
  const double expected = this->forward_seconds(step);
  const double surprise = std::clamp(forward_seconds / expected, 1 / kCostSurpriseMost, kCostSurpriseMost) - 1;
  const auto [below, part] = find(step.rows);
  const double pairs = attention().pair * static_cast<double>(step.pairs) / expected;
  const double reads = attention().read * static_cast<double>(step.reads) / expected;
  const double nearer = std::clamp(part, 0.0, 1.0);
  counted_ = std::min(counted_ + 1, kCostLately);
  for (double& share : lately_) share *= 1 - 1 / counted_;
  lately_[below] += (1 - nearer) / counted_;
  lately_[below + 1] += nearer / counted_;
  // The shape: every term is corrected in proportion to its share of the prediction (pairs, reads,
  // and the rest for the two table entries, by their distance).
  const double of_table = surprise * (1 - pairs - reads);
  correct(below, of_table, 1 - nearer);
  correct(below + 1, of_table, nearer);
  attention_.pair *= 1 + kCostShapeWeight * surprise * pairs;
  attention_.read *= 1 + kCostShapeWeight * surprise * reads;
  steps_[below] += 1 - nearer;
  steps_[below + 1] += nearer;
  // Keep the table monotone: entries below follow one that fell, entries above one that rose.
  for (size_t i = below; i-- > 0;) times_[i] = std::min(times_[i], times_[i + 1]);
  level(times_);
  speed_ *= 1 + kCostSpeedWeight * surprise;
}

void CostModel::correct(size_t entry, double surprise, double part) {
  const bool rare = lately_[entry] <= kCostRareShare;
  const double weight = rare ? std::max(1 / (kCostTrials + steps_[entry]), kCostRareWeight) : kCostShapeWeight;
  const double one = times_[0], before = times_[entry] - one;
  times_[entry] *= 1 + weight * surprise * part;
  if (!rare || entry == 0 || !(before > 0)) return;
  const double rows = std::clamp((times_[entry] - one) / before, 1 / kCostSurpriseMost, kCostSurpriseMost);
  for (size_t i = entry + 1; i < times_.size(); ++i) {
    if (steps_[i] == 0) times_[i] = one + (times_[i] - one) * rows;
  }
}

// Bisection: seconds() grows with the rows, since the table is monotone.
int32_t CostModel::rows_within(StepLoad base, int32_t position, int32_t most, double seconds) const {
  int32_t fits = 0;
  for (int32_t over = most + 1; over - fits > 1;) {
    const int32_t middle = fits + (over - fits) / 2;
    (this->seconds(base.with(middle, seen(position))) <= seconds ? fits : over) = middle;
  }
  return fits;
}

StepTimes CostModel::times() const {
  StepTimes times = times_;
  for (double& seconds : times) seconds *= speed_;
  return times;
}

}  // namespace slipstream
