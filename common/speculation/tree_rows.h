// A draft tree as rows of a forward pass. A tree of n nodes has n + 1 rows: row 0 is the root, row
// i + 1 is node i.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

struct TreeRow {
  TokenId token = -1;      // -1: the root, whose token is the last of the sequence
  int32_t parent = -1;     // row of the parent; -1: this is the root
  int32_t depth = 0;       // 0: the root
  uint64_t ancestors = 1;  // the tree part of the attention mask: bit j is set if row j is this row or an ancestor
};

// [nodes + 1]
std::vector<TreeRow> tree_rows(const TokenTree& tree);

}  // namespace slipstream
