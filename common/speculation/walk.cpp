#include "common/speculation/walk.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

Walk walk(const TokenTree& tree, std::span<const TokenId> sampled_tokens) {
  CHECK(sampled_tokens.size() == static_cast<size_t>(tree.size()) + 1, "{} nodes have {} rows, got {} choices", tree.size(),
        tree.size() + 1, sampled_tokens.size());
  Walk path;
  int at = kRoot;
  while (true) {
    path.emitted.push_back(sampled_tokens[at + 1]);
    at = tree.child(at, path.emitted.back());
    if (at < 0) return path;
    path.accepted.push_back(at);
  }
}

namespace {

template <class Each>
void each_outcome(const TokenTree& tree, const Walk& walk, int kept, const Each& each) {
  const auto taken = static_cast<int>(walk.accepted.size());
  CHECK(kept >= 0 && kept <= taken, "{} nodes were accepted, {} cannot have been kept", taken, kept);
  // Whether the children of a node were compared with the target's token: the node is the root or
  // was accepted, and the round was not cut at it. A round that was cut ended with the last kept
  // token, so the children behind that one were never compared.
  const auto compared = [&](int parent) {
    if (parent == kRoot) return kept == taken || kept > 0;
    const auto place = std::ranges::find(walk.accepted, parent) - walk.accepted.begin();
    return place < kept && (place + 1 < kept || kept == taken);
  };
  for (int node = 0; node < tree.size(); ++node) {
    const auto place = std::ranges::find(walk.accepted, node) - walk.accepted.begin();
    each(place < kept                          ? NodeOutcome::accepted
         : compared(tree.nodes()[node].parent) ? NodeOutcome::rejected
                                               : NodeOutcome::unreached);
  }
}

}  // namespace

std::vector<NodeOutcome> outcomes(const TokenTree& tree, const Walk& walk, int kept) {
  std::vector<NodeOutcome> outcomes;
  each_outcome(tree, walk, kept, [&](NodeOutcome outcome) { outcomes.push_back(outcome); });
  return outcomes;
}

Fates fates(const TokenTree& tree, const Walk& walk, int kept) {
  Fates fates;
  each_outcome(tree, walk, kept, [&](NodeOutcome outcome) {
    ++(outcome == NodeOutcome::accepted ? fates.accepted : outcome == NodeOutcome::rejected ? fates.rejected : fates.unreached);
  });
  return fates;
}

}  // namespace slipstream
