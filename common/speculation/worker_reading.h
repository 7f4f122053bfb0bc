// What the tuner reads of one worker: numbers that the worker exports on its metrics page, and
// nothing else. services/router/read_worker.h makes them of a page. Counters are those since the
// worker's process began; gauges are of the moment of the scrape. They come from another process:
// any of them may be NaN, negative or a lie, and the tuner checks them.
#pragma once

#include <array>
#include <compare>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/speculation/calibration.h"

namespace slipstream {

// Two drafters of a kind guess the same, so they have one setting.
struct TunedKind {
  std::string method;
  std::string model;  // empty: the method has none
  auto operator<=>(const TunedKind&) const = default;
};

struct NodeCounts {
  double verified = 0;  // nodes
  double expected = 0;  // the sum of what was predicted for them
  double accepted = 0;  // those of them that were accepted
  bool operator==(const NodeCounts&) const = default;
};

// What a verifier says of the drafters of one kind.
struct KindReading {
  TunedKind kind;
  std::array<NodeCounts, kCalibrationBins> by_survival{};        // by the survival that the drafter stated
  std::array<NodeCounts, kCalibrationDepths.size()> by_depth{};  // by depth; expected: calibrated
  double in_time = 0, late = 0;                                  // asks of leads whose tree was there in time, or not
  double answer_seconds = 0;                                     // gauge: from an Advance to its tree; 0: not known
  bool operator==(const KindReading&) const = default;
};

struct StepCost {
  double rows = 0, seconds = 0;
  bool operator==(const StepCost&) const = default;
};

struct VerifierReading {
  double steps = 0, step_seconds = 0;  // passes, and their time
  double wait_seconds = 0;             // that steps stood ready and waited for trees
  double rounds = 0;                   // of sequences; a step has one of each sequence that decodes
  double tokens = 0;                   // output
  double step_overhead = 0;            // gauge: seconds of a step beside its pass
  std::vector<StepCost> step_cost;     // gauges, rows ascending
  std::vector<KindReading> kinds;
  bool operator==(const VerifierReading&) const = default;
};

// Draft jobs whose deepest tree has a depth of one range.
struct LevelCounts {
  double jobs = 0, levels = 0, seconds = 0;  // levels: the sum of the depths
  bool operator==(const LevelCounts&) const = default;
};

struct DrafterReading {
  TunedKind kind;
  double jobs = 0, seconds = 0;  // draft jobs that had asks, and their time
  double asks = 0, nodes = 0;    // answered, and drafted
  std::array<LevelCounts, kCalibrationDepths.size()> by_levels{};
  bool operator==(const DrafterReading&) const = default;
};

using WorkerReading = std::variant<VerifierReading, DrafterReading>;

}  // namespace slipstream
