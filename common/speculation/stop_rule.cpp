#include "common/speculation/stop_rule.h"

#include <algorithm>

namespace slipstream {

bool StopRule::admits(float survival, int depth, int nodes) const {
  return nodes < nodes_max && depth <= depth_max && 1.0F - survival <= threshold;
}

StopRule chain_within(const StopRule& bounds, const ChainRule& rule) {
  const int most = std::min({rule.length_max, bounds.nodes_max, bounds.depth_max});
  return {.nodes_max = most,
          .depth_max = most,
          .threshold = rule.threshold,
          .confidence_least = rule.confidence_least,
          .chain = true};
}

}  // namespace slipstream
