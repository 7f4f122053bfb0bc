// The ledger of draft nodes. Each node that reaches a verifier is held until a step or an event
// settles its fate, so the fates add up to what was received by construction. A sequence's report
// and the verifier's metrics are views of this ledger.
//
//   fates.arrive(5);                      // a tree of five nodes came: held
//   fates.settle(2, Fate::accepted);      // two of them became output; three are still held
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "common/base/check.h"

namespace slipstream {

// All fates but `held` are final.
//
// A node is `trimmed` if it is cut before the pass (gather.cpp, schedule.cpp, rounds.cpp), for one
// of these reasons:
//   - its tree has more nodes than the step has rows for it;
//   - it gains less than its row costs (schedule.h), or the request allows fewer nodes;
//   - its tree reaches past the model's context;
//   - the cache has no room for its tree;
//   - its drafter sent more nodes than it was asked for, or merged trees have more than a tree may.
//
// A node is `stale` if its tree fits no round of a running sequence (rounds.cpp), if its tree was
// parked and no round used it, or if its sequence ended or its step failed while it was held.
enum class Fate : uint8_t {
  held,       // arrived; no step has verified it yet, or the step that verifies it runs now
  accepted,   // it became output
  rejected,   // the target wanted another token where it stands
  unreached,  // one of its ancestors was rejected, or the output ended before it
  trimmed,    // cut before the pass, as above
  late,       // it came after its round had gone on without it
  stale,      // unused, as above
  invalid,    // its tree breaks an invariant of trees
  merged      // another drafter had guessed the same for this round: one node stands for both
};
inline constexpr size_t kFates = 9;

class NodeFates {
 public:
  void arrive(size_t nodes) { nodes_[0] += nodes; }
  // REQUIRES: that many nodes are held, and `fate` is a final one.
  void settle(size_t nodes, Fate fate) {
    CHECK(fate != Fate::held && nodes <= nodes_[0], "{} nodes get a fate and {} are held", nodes, nodes_[0]);
    nodes_[0] -= nodes;
    nodes_[static_cast<size_t>(fate)] += nodes;
  }

  uint64_t of(Fate fate) const { return nodes_[static_cast<size_t>(fate)]; }
  uint64_t received() const { return std::accumulate(nodes_.begin(), nodes_.end(), uint64_t{0}); }

 private:
  std::array<uint64_t, kFates> nodes_{};
};

// The ledger of one sequence. Its verifier's ledger, which outlives it, takes every entry too.
class SequenceFates {
 public:
  explicit SequenceFates(NodeFates& verifier) : verifier_(&verifier) {}

  void arrive(size_t nodes) {
    own_.arrive(nodes);
    verifier_->arrive(nodes);
  }
  void settle(size_t nodes, Fate fate) {
    own_.settle(nodes, fate);
    verifier_->settle(nodes, fate);
  }
  uint64_t of(Fate fate) const { return own_.of(fate); }
  uint64_t received() const { return own_.received(); }

 private:
  NodeFates own_;
  NodeFates* verifier_;
};

}  // namespace slipstream
