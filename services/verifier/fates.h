// The ledger of draft nodes. Each node that reaches a verifier is held until a step or an event
// settles its fate, so the fates add up to what was received by construction. A sequence's report
// and the verifier's metrics are views of this ledger.
//
// It is kept by kind of drafter. A node that several guessed is, from its arrival to its fate, that
// of the kind whose tree came first; for the later ones it is merged.
//
//   fates.arrive(ngram, 5);                  // a tree of five nodes came: held
//   fates.settle(ngram, 2, Fate::accepted);  // two of them became output; three are still held
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace slipstream {

inline constexpr size_t kDraftKindsMax = 8;  // counted by name; any further one is of the kind "other"

// A kind of drafter: its place in VerifierCounters::draft_kinds.
using KindIndex = uint8_t;

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
  void arrive(KindIndex kind, size_t nodes) { nodes_.at(kind)[0] += nodes; }
  // REQUIRES: that many nodes of the kind are held, and `fate` is a final one.
  void settle(KindIndex kind, size_t nodes, Fate fate) {
    std::array<uint64_t, kFates>& of = nodes_.at(kind);
    CHECK(fate != Fate::held && nodes <= of[0], "{} nodes get a fate and {} are held", nodes, of[0]);
    of[0] -= nodes;
    of[static_cast<size_t>(fate)] += nodes;
  }

  // What was counted for one kind is that of another from now on.
  void move(KindIndex from, KindIndex to) {
    for (size_t fate = 0; fate < kFates; ++fate) nodes_.at(to)[fate] += std::exchange(nodes_.at(from)[fate], 0);
  }

  uint64_t of(KindIndex kind, Fate fate) const { return nodes_.at(kind)[static_cast<size_t>(fate)]; }
  uint64_t received(KindIndex kind) const {
    return std::accumulate(nodes_.at(kind).begin(), nodes_.at(kind).end(), uint64_t{0});
  }
  // Of all kinds.
  uint64_t of(Fate fate) const {
    uint64_t sum = 0;
    for (const auto& kind : nodes_) sum += kind[static_cast<size_t>(fate)];
    return sum;
  }
  uint64_t received() const {
    uint64_t sum = 0;
    for (size_t kind = 0; kind < nodes_.size(); ++kind) sum += received(static_cast<KindIndex>(kind));
    return sum;
  }

 private:
  std::array<std::array<uint64_t, kFates>, kDraftKindsMax + 1> nodes_{};
};

// The ledger of one sequence. Its verifier's ledger, which outlives it, takes every entry too.
class SequenceFates {
 public:
  explicit SequenceFates(NodeFates& verifier) : verifier_(&verifier) {}

  void arrive(KindIndex kind, size_t nodes) {
    own_.arrive(kind, nodes);
    verifier_->arrive(kind, nodes);
  }
  void settle(KindIndex kind, size_t nodes, Fate fate) {
    own_.settle(kind, nodes, fate);
    verifier_->settle(kind, nodes, fate);
  }
  // Nodes of these kinds get one fate.
  void settle(std::span<const KindIndex> kinds, Fate fate) {
    for (const KindIndex kind : kinds) settle(kind, 1, fate);
  }
  // A tree was cut: kinds [nodes] loses the nodes that are not among `stayed`, which are trimmed.
  // stayed: former indices, ascending.
  void trim(std::vector<KindIndex>& kinds, std::span<const int32_t> stayed) {
    std::vector<KindIndex> kept;
    for (size_t node = 0; node < kinds.size(); ++node) {
      if (kept.size() < stayed.size() && stayed[kept.size()] == static_cast<int32_t>(node)) {
        kept.push_back(kinds[node]);
      } else {
        settle(kinds[node], 1, Fate::trimmed);
      }
    }
    kinds = std::move(kept);
  }
  uint64_t of(Fate fate) const { return own_.of(fate); }
  uint64_t received() const { return own_.received(); }

 private:
  NodeFates own_;
  NodeFates* verifier_;
};

}  // namespace slipstream
