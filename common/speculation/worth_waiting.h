// Decides for which of the trees that are due a step waits. Trees are taken in the order in which
// they are expected. To wait for the first k costs what the step would emit in that time, and
// brings the tokens that these k trees are expected to gain:
//
//   value(k) = gain_1 + ... + gain_k - rate in_k
//
// The k with the greatest value wins; if no value is positive, the step waits for none. So a slow
// drafter never makes the trees of a quick one late, and a tree that gains little is not waited
// for. How long steps may wait in all is the business of wait_budget.h. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace slipstream {

struct DueTree {
  std::chrono::microseconds in{};  // how much longer it will likely take
  double gain = 0;                 // tokens
};

// rate: tokens a second that the waiting step would emit. Returns the wait until the last tree that
// is worth it; nullopt: none is.
inline std::optional<std::chrono::microseconds> worth_waiting(std::vector<DueTree> trees, double rate) {
  std::ranges::sort(trees, {}, &DueTree::in);
  std::optional<std::chrono::microseconds> best;
  double gains = 0, most = 0;
  for (const DueTree& tree : trees) {
    gains += tree.gain;
    const double value = gains - rate * std::chrono::duration<double>(tree.in).count();
    if (value <= most) continue;
    most = value;
    best = tree.in;
  }
  return best;
}

}  // namespace slipstream
