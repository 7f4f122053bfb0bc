// TreeReport: what became of one round's draft tree, for a client that asked for it
// (GenerationSpec::trees). A verifier sends it with the first token that the round emitted.
//
//   root      the last token before the round
//    +- the   accepted     by 0 (ngram), chance 0.9
//    |   +- cat   rejected
//    |   |   +- sat   unreached
//    |   +- dog   trimmed: cut before the pass
//    +- a     rejected     by 1 (small-lm)
//   own       "mat": the target's own choice behind "the"
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/limits.h"
#include "common/base/tree_node.h"

namespace slipstream {

// The fates (services/verifier/fates.h) of nodes that belong to a round's draft.
enum class NodeFate : uint8_t { accepted, rejected, unreached, trimmed };
inline constexpr std::array<std::string_view, 4> kNodeFates{"accepted", "rejected", "unreached", "trimmed"};
constexpr std::string_view name_of(NodeFate fate) { return kNodeFates[static_cast<size_t>(fate)]; }

// Who guesses, as metrics name it.
struct Proposer {
  std::string method;  // "ngram", "resident-ngram", "head", "grammar"
  std::string model;   // empty: the method has none
  bool operator==(const Proposer&) const = default;
};

struct ReportedNode {
  TokenId token = 0;
  int32_t parent = kRoot;  // index of an earlier node, or kRoot
  float chance = 0;        // [0, 1] to be accepted, as predicted before the pass
  uint8_t by = 0;          // index of the proposer that is credited with it, the first of those that guessed it
  NodeFate fate = NodeFate::accepted;
  bool operator==(const ReportedNode&) const = default;
};

struct TreeReport {
  int32_t first_index = 0;  // output index (Tokens) of the first token that the round emitted
  TokenId own = -1;         // the target's choice behind the accepted path; -1: the output ended before it
  std::vector<Proposer> proposers;
  std::vector<ReportedNode> nodes;  // at least one
  bool operator==(const TreeReport&) const = default;
};

}  // namespace slipstream
