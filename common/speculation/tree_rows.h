// A tree as the rows of a verify pass: n nodes are n + 1 rows. Row 0 is the root, row i + 1 is node
// i.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/speculation/token_tree.h"

namespace slipstream {

struct TreeRow {
  TokenId token = -1;      // -1: the root, whose token the sequence knows
  int32_t parent = -1;     // row; -1: this is the root
  int32_t depth = 0;       // 0 for the root
  uint64_t ancestors = 1;  // bit j is set: the row sees row j, itself or one of its ancestors
};

// [nodes + 1]
std::vector<TreeRow> tree_rows(const TokenTree& tree);

}  // namespace slipstream
