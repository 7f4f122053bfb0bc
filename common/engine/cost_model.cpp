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
  return {rows + more, pairs + count * position + count * (count + 1) / 2, reads + position + count, whole_output};
}

CostModel::CostModel(const StepTimes& times, const AttentionPrices& attention, const StepTimes& whole)
    : tables_{Table{.times = times}, Table{.times = whole}}, attention_(attention) {
  for (Table& table : tables_) {
    for (const double seconds : table.times) CHECK(std::isfinite(seconds) && seconds > 0, "a step of {} s", seconds);
    level(table.times);
  }
  for (const double seconds : {attention.pair, attention.read}) {
    CHECK(std::isfinite(seconds) && seconds >= 0, "a pair or a read of {} s", seconds);
  }
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
  const StepTimes& times = tables_[step.whole_output ? 1 : 0].times;
  const double rows = times[below] + part * (times[below + 1] - times[below]);
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
  Table& table = tables_[step.whole_output ? 1 : 0];
  table.counted = std::min(table.counted + 1, kCostLately);
  for (double& share : table.lately) share *= 1 - 1 / table.counted;
  table.lately[below] += (1 - nearer) / table.counted;
  table.lately[below + 1] += nearer / table.counted;
  // The shape: every term is corrected in proportion to its share of the prediction (pairs, reads,
  // and the rest for the two table entries, by their distance).
  const double of_table = surprise * (1 - pairs - reads);
  table.correct(below, of_table, 1 - nearer);
  table.correct(below + 1, of_table, nearer);
  attention_.pair *= 1 + kCostShapeWeight * surprise * pairs;
  attention_.read *= 1 + kCostShapeWeight * surprise * reads;
  table.steps[below] += 1 - nearer;
  table.steps[below + 1] += nearer;
  // Keep the table monotone: entries below follow one that fell, entries above one that rose.
  for (size_t i = below; i-- > 0;) table.times[i] = std::min(table.times[i], table.times[i + 1]);
  level(table.times);
  speed_ *= 1 + kCostSpeedWeight * surprise;
}

void CostModel::Table::correct(size_t entry, double surprise, double part) {
  const bool rare = lately[entry] <= kCostRareShare;
  const double weight = rare ? std::max(1 / (kCostTrials + steps[entry]), kCostRareWeight) : kCostShapeWeight;
  const double one = times[0], before = times[entry] - one;
  times[entry] *= 1 + weight * surprise * part;
  if (!rare || entry == 0 || !(before > 0)) return;
  const double rows = std::clamp((times[entry] - one) / before, 1 / kCostSurpriseMost, kCostSurpriseMost);
  for (size_t i = entry + 1; i < times.size(); ++i) {
    if (steps[i] == 0) times[i] = one + (times[i] - one) * rows;
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
  StepTimes times = tables_.front().times;
  for (double& seconds : times) seconds *= speed_;
  return times;
}

}  // namespace slipstream
