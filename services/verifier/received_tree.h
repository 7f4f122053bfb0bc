// Checks a Tree message, converts it to a DraftTree, and cuts it to what may be asked of its
// drafter.
#pragma once

#include "common/base/result.h"
#include "common/messages/draft.h"
#include "common/speculation/rejection/draft_tree.h"

namespace slipstream {

// The DraftTree has its distributions if the rule is of the ratio family. An error says what is
// wrong with the message.
Result<DraftTree> tree_of(const Tree& message, const Acceptance& acceptance, int32_t vocabulary);

struct TreeBounds {
  int nodes = 0;  // at most
  int depth = 0;  // of the deepest
};
// Cuts the nodes that are too deep, and of the others those that survive least. Returns how many
// were cut. REQUIRES: the tree was not sampled.
size_t cut(DraftTree& tree, const TreeBounds& bounds);

}  // namespace slipstream
