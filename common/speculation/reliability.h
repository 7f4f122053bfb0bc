// Compares the predicted chances of verified nodes with what became of them, for each tenth of
// chance. All numbers only grow, so they are exported as counters, and a reliability diagram of any
// period is a query.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/speculation/calibration.h"

namespace slipstream {

inline constexpr size_t kReliabilityBins = 10;

class Reliability {
 public:
  struct Bin {
    uint64_t nodes = 0;
    uint64_t accepted = 0;
    double expected = 0;  // the sum of the chances
    void add(double chance, bool is_accepted) {
      ++nodes;
      accepted += is_accepted ? 1 : 0;
      expected += chance;
    }
    void add(const Bin& more) {
      nodes += more.nodes;
      accepted += more.accepted;
      expected += more.expected;
    }
    bool operator==(const Bin&) const = default;
  };

  // A node was verified whose chance was predicted so. REQUIRES: 0 <= chance <= 1.
  void verified(double chance, bool accepted) {
    bins_[std::min(static_cast<size_t>(chance * kReliabilityBins), kReliabilityBins - 1)].add(chance, accepted);
  }
  // The nodes of another one, too.
  void add(const Reliability& more) {
    for (size_t bin = 0; bin < kReliabilityBins; ++bin) bins_[bin].add(more.bins_[bin]);
  }
  const std::array<Bin, kReliabilityBins>& bins() const { return bins_; }

  // The expected calibration error: |expected - accepted|, summed over the bins, for each node.
  double error() const {
    double nodes = 0, error = 0;
    for (const Bin& bin : bins_) {
      nodes += static_cast<double>(bin.nodes);
      error += std::abs(bin.expected - static_cast<double>(bin.accepted));
    }
    return nodes > 0 ? error / nodes : 0;
  }
  bool operator==(const Reliability&) const = default;

 private:
  std::array<Bin, kReliabilityBins> bins_;
};

using DepthReliability = std::array<Reliability::Bin, kCalibrationDepths.size()>;  // [kCalibrationDepths]

}  // namespace slipstream
