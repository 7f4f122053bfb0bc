// The walk that decides what is emitted under greedy and coupled acceptance: follow the target's
// own choices down the tree. The tree cannot change a word of the result, only its length: each
// emitted token is the target's choice at its own prefix.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/token_tree.h"

namespace slipstream {

struct Walk {
  std::vector<int32_t> accepted;  // node indices, root side first
  std::vector<TokenId> emitted;   // [accepted + 1] the accepted tokens, then the target's own next one
};

// chosen: [nodes + 1] the target's token after row i (tree_rows.h). A -1 (no finite logits) on the
// path is emitted last.
Walk walk(const TokenTree& tree, std::span<const TokenId> sampled_tokens);

// What became of each node of a verified tree. `kept` is how many of walk.accepted were emitted:
// fewer than all when a stop token or the length limit cut the round short; what lies behind the
// last token kept then counts as unreached. Accepted and rejected nodes are those whose parent's
// choice was looked at.
struct Fates {
  int accepted = 0, rejected = 0, unreached = 0;
};
Fates fates(const TokenTree& tree, const Walk& walk, int kept);

}  // namespace slipstream
