// What a step of the target takes: T(rows, pairs, reads). A table over the rows, since their cost
// has steps; what attention adds, a price for each pair of a row and a position that it
// sees, and one for each position that a sequence reads, once for all of its rows (a stream behind
// a long context pays the latter, a prompt's chunk the former); and what a step takes beside its
// forward pass. Measured once at start, corrected by every step that runs: all of it at once, as a
// busy neighbour makes everything slower, and, more slowly, what this step had most of. Pure.
#pragma once

#include <array>
#include <cstdint>

namespace slipstream {

inline constexpr std::array<int32_t, 12> kCostRows{1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 192, 256};
using StepTimes = std::array<double, kCostRows.size()>;  // seconds, of steps of kCostRows rows

inline constexpr double kCostSpeedWeight = 1.0 / 8;   // of the newest step, in how fast all steps are
inline constexpr double kCostShapeWeight = 1.0 / 64;  // and in what its size costs beside others
inline constexpr double kCostOverheadMost = 0.01;     // seconds beside its forward pass that are believed of a step
inline constexpr double kCostSurpriseMost = 2;        // a step that took longer counts as so many times the expected

struct StepLoad {
  int32_t rows = 0;
  int64_t pairs = 0;  // of a row and a position that it sees
  int64_t reads = 0;  // positions that any row of a sequence sees, of all sequences

  StepLoad with(int32_t more, int32_t position) const;  // so many rows more of one sequence, from that position on
};

struct AttentionPrices {
  double pair = 0, read = 0;  // seconds

  double seconds(const StepLoad& step) const {
    return pair * static_cast<double>(step.pairs) + read * static_cast<double>(step.reads);
  }
};

class CostModel {
 public:
  // times: positive, of rows that see nobody but themselves. More rows take no less time: where
  // they seem to, they are levelled.
  CostModel(const StepTimes& times, const AttentionPrices& attention);
  // Every step costs so long, whatever its rows, and no step that runs corrects it: draft nodes are
  // free. REQUIRES: seconds > 0.
  static CostModel fixed(double seconds);

  double seconds(StepLoad step) const;  // 0 of no rows; beyond the table as its last two say
  void ran(StepLoad step, double forward_seconds, double overhead_seconds);
  // The most rows, of at most `most`, from that position on, that keep a step within so many
  // seconds; 0 if none does.
  int32_t rows_within(StepLoad base, int32_t position, int32_t most, double seconds) const;

  double forward_seconds(StepLoad step) const;
  double overhead_seconds() const { return overhead_; }
  StepTimes times() const;  // of forward passes, as corrected
  AttentionPrices attention() const { return {speed_ * attention_.pair, speed_ * attention_.read}; }

 private:
  StepTimes times_;
  AttentionPrices attention_;
  double speed_ = 1;  // times all of these
  double overhead_ = 0;
  bool fixed_ = false;
};

}  // namespace slipstream
