#include "common/speculation/stop_rule.h"

namespace slipstream {

bool StopRule::admits(float survival, int depth, int nodes) const {
  return nodes < nodes_max && depth <= depth_max && 1.0F - survival <= threshold;
}

}  // namespace slipstream
