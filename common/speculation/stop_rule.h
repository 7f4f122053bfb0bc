// Says when a drafter stops growing a tree: after a number of nodes, at a depth, or where a node is
// unlikely to be reached (threshold h). Plain data; it comes with each ask for a draft.
#pragma once

#include "common/base/chain_rule.h"

namespace slipstream {

struct StopRule {
  int nodes_max = 8;           // nodes of the tree
  int depth_max = 8;           // depth of its deepest node
  float threshold = 1.0F;      // h in [0, 1]: draft a node if 1 - survival <= h; 1 never stops
  float level_price = 0;       // tokens that one more forward pass must gain to pay for itself; 0: passes are free
  float confidence_least = 0;  // stated for each node's own token
  float bound_least = 0;       // the pass whose acceptance_bound() is lower is the last; 0: none is for that
  bool chain = false;          // of each node the likeliest child alone

  // Whether to draft a node with this survival at this depth, behind `nodes` others. survival: the
  // product of the confidences along the node's path (SpecDec++, 2405.19715, Section 4, stops when
  // 1 - prod p_i > h).
  bool admits(float survival, int depth, int nodes) const;
};

// AdaEDL's lower bound of the chance that the target accepts a token of a distribution with so many
// nats of entropy (2410.18351): 1 - sqrt(kEntropyWeight * nats).
inline constexpr float kEntropyWeight = 0.2F;
float acceptance_bound(float nats);

// bounds: nodes and depth that there is room for.
StopRule chain_within(const StopRule& bounds, const ChainRule& rule);

}  // namespace slipstream
