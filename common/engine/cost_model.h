// Predicts how long a verify step takes, in seconds:
//
//   forward = speed (T(rows) + pairs * price(pair) + reads * price(read))
//   step    = forward + overhead
//
//   rows      rows of the step; T is a table, linear between its entries, because the cost of a batch has steps. There are
//             two: of steps that read the whole output layer, and of those that may screen it (llama.h)
//   pairs     (row, visible position) pairs: attention arithmetic, which dominates prompt chunks
//   reads     cache positions that a sequence's rows see, counted once per sequence: dominates decoding behind long contexts
//   overhead  time beside the forward pass (hand-over, messages)
//
// The verifier measures T and the prices at start (services/verifier/calibrate.h). After every
// step, ran() compares the measured time with the prediction, surprise = measured / predicted - 1,
// and corrects
//
//   speed      by kCostSpeedWeight * surprise: fast, because a busy neighbour slows everything down
//   each term  by a weight * surprise * the term's share of the prediction
//
// The weight is kCostShapeWeight: slow. But a step of a size that is rare among the latest tells
// how that size stands to the others, whose speed is known: it weighs up to 1 / (kCostTrials + the
// steps of its entries so far), and entries above that no step was of follow it. Without this a
// size that the start took for too dear would stay so, as nothing but probes asks for rows that are
// too dear.
//
// Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace slipstream {

inline constexpr std::array<int32_t, 14> kCostRows{1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 192, 256, 512, 1024};
using StepTimes = std::array<double, kCostRows.size()>;  // seconds of a step of kCostRows[i] rows

inline constexpr double kCostSpeedWeight = 1.0 / 8;   // of the newest step, in the speed and the overhead
inline constexpr double kCostShapeWeight = 1.0 / 64;  // of the newest step, in T and the prices
inline constexpr double kCostRareWeight = 1.0 / 32;   // the least of a step whose size is rare
inline constexpr double kCostRareShare = 1.0 / 32;    // of the latest steps, up to which those of an entry are rare
inline constexpr double kCostTrials = 8;              // steps that an entry counts as, when it was measured at start
inline constexpr double kCostLately = 64;             // steps over which such shares are counted
inline constexpr double kCostOverheadMost = 0.01;     // seconds; a longer overhead counts as this
inline constexpr double kCostSurpriseMost = 2;        // measured / predicted is clamped to [1/2, 2]

// What a step has to compute, as counted above.
struct StepLoad {
  int32_t rows = 0;
  int64_t pairs = 0;
  int64_t reads = 0;
  bool whole_output = false;  // tokens are sampled, or logits are read or changed, so nothing is screened

  // This load and that of a prompt chunk: `more` rows of one further sequence, which stand at
  // `position` and behind it and see everything before them.
  StepLoad with(int32_t more, int32_t position) const;
};

struct AttentionPrices {
  double pair = 0, read = 0;  // seconds

  double seconds(const StepLoad& step) const {
    return pair * static_cast<double>(step.pairs) + read * static_cast<double>(step.reads);
  }
};

class CostModel {
 public:
  // times: measured with rows that see only themselves; whole: of steps that read the whole output
  // layer. Tables are made monotone: an entry below the one before it is raised to it. REQUIRES:
  // times are positive, prices not negative, all finite.
  CostModel(const StepTimes& times, const AttentionPrices& attention, const StepTimes& whole);
  CostModel(const StepTimes& times, const AttentionPrices& attention) : CostModel(times, attention, times) {}
  // Every step takes `seconds`, whatever its load, and no step corrects that. Draft nodes are free
  // then. REQUIRES: seconds > 0.
  static CostModel fixed(double seconds);

  // Predictions. A step without rows takes 0. Beyond the table its last two entries are
  // extrapolated.
  double seconds(StepLoad step) const;
  // Corrects the model by a step that ran. A step of no rows or no time is ignored.
  void ran(StepLoad step, double forward_seconds, double overhead_seconds);
  // The largest n <= most such that `base` with a chunk of n rows from `position` on takes at most
  // `seconds`; 0: not even one row fits.
  int32_t rows_within(StepLoad base, int32_t position, int32_t most, double seconds) const;

  // Attention of the model sees at most so many positions of a path; 0: all. Loads are counted so:
  // of `positions` before a row, seen() cost something.
  void set_window(int32_t window) { window_ = window; }
  int32_t window() const { return window_; }
  int32_t seen(int32_t positions) const { return window_ == 0 ? positions : std::min(positions, window_); }

  // The parts of a prediction, corrections included.
  double forward_seconds(StepLoad step) const;
  double overhead_seconds() const { return overhead_; }
  StepTimes times() const;  // of forward passes without attention that may screen the output layer
  AttentionPrices attention() const { return {speed_ * attention_.pair, speed_ * attention_.read}; }

 private:
  struct Table {
    // Corrects an entry by a step's surprise, of which so large a part is the entry's. If its steps
    // are rare, entries above it of which no step was follow: what they take more than one row.
    void correct(size_t entry, double surprise, double part);

    StepTimes times{};
    StepTimes steps{};   // that ran, of each entry
    StepTimes lately{};  // the share of each entry in the latest steps
    double counted = 0;  // steps, at most kCostLately
  };

  std::array<Table, 2> tables_;  // [StepLoad::whole_output]
  AttentionPrices attention_;
  double speed_ = 1;  // a factor of the tables and attention_
  double overhead_ = 0;
  int32_t window_ = 0;
  bool fixed_ = false;
};

}  // namespace slipstream
