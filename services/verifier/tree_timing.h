// What an acceptance rule asks of the verifier's schedule: three questions, so that the schedule
// need not know the rules.
//
// Rules that sample a tree from q keep the target's distribution only if nothing that decides
// whether a sibling set is verified depends on the tokens sampled in it (adr/0008). A deadline, a
// budget of another moment and a full cache could all depend on them: a tree of likely tokens grows
// deeper, so it comes later and needs more room. Greedy and coupled rules emit the target's own
// choices whatever the tree holds, so their trees may be late, cut or dropped at any time.
#pragma once

#include "common/messages/common.h"

namespace slipstream {

struct TreeTiming {
  // Only this sequence waits for its tree, also past its drafter's deadline; steps go on with the
  // others. It asks only when the step that uses the tree could be the next, and takes no tree that
  // it did not ask for.
  bool waits_alone = false;
  // The tree keeps the row budget that it was asked with. If false, the price of a row may cut
  // it.
  bool keeps_budget = false;
  // Cache is reserved for the largest tree that may come. If false, it is reserved for the tree
  // that came.
  bool reserves_whole = false;
};

inline TreeTiming tree_timing(Rule rule) {
  const bool samples = is_sampled(rule);
  return {.waits_alone = samples, .keeps_budget = samples, .reserves_whole = samples};
}

}  // namespace slipstream
