// Greedy and coupled acceptance: follows the target's sampled tokens down the tree, as long as a
// child carries the token.
//
//   at := root
//   repeat   x := the target's token after `at`;  emit x
//            if a child of `at` carries x: accept it, at := that child; otherwise end
//
// The tree cannot change a word of the result, only its length: every emitted token is the one that
// the target sampled behind the same tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/speculation/token_tree.h"

namespace slipstream {

struct Walk {
  std::vector<int32_t> accepted;  // node indices, from the root down
  std::vector<TokenId> emitted;   // [accepted + 1] the accepted nodes' tokens, then the target's next one
};

// sampled_tokens: [nodes + 1] the target's token after row i (tree_rows.h). A -1 (a refused row,
// sampling/chain.h) on the path is emitted and ends it. REQUIRES: one token per row.
Walk walk(const TokenTree& tree, std::span<const TokenId> sampled_tokens);

// What became of the nodes of a verified tree.
//
//   accepted    on the accepted path
//   rejected    not accepted, but compared with the target's token: the parent is the root or
//               accepted
//   unreached   all others
//
// kept: how many of walk.accepted were emitted. A stop token or the length limit may cut the round
// short; nodes behind the last token kept then are unreached. REQUIRES: kept is in [0, accepted].
enum class NodeOutcome : uint8_t { accepted, rejected, unreached };
std::vector<NodeOutcome> outcomes(const TokenTree& tree, const Walk& walk, int kept);  // [nodes]

// How many nodes have each; they add up to the size of the tree.
struct Fates {
  int accepted = 0, rejected = 0, unreached = 0;
};
Fates fates(const TokenTree& tree, const Walk& walk, int kept);

}  // namespace slipstream
