#include "common/speculation/stop_rule.h"

#include <algorithm>
#include <cmath>

namespace slipstream {

bool StopRule::admits(float survival, int depth, int nodes) const {
  return nodes < nodes_max && depth <= depth_max && 1.0F - survival <= threshold;
}

float acceptance_bound(float nats) { return 1 - std::sqrt(kEntropyWeight * nats); }

StopRule chain_within(const StopRule& bounds, const ChainRule& rule) {
  const int most = std::min({rule.length_max, bounds.nodes_max, bounds.depth_max});
  return {.nodes_max = most,
          .depth_max = most,
          .threshold = rule.threshold,
          .confidence_least = rule.confidence_least,
          .bound_least = rule.bound_least,
          .chain = true};
}

}  // namespace slipstream
