// Which rows of a verify pass see which. A tree of n nodes is n + 1 rows: row 0 is the root, row i + 1 is node i.
#pragma once

#include <cstdint>
#include <vector>

#include "common/speculation/token_tree.h"

namespace slipstream {

// [nodes + 1] bit j of word i is set where row i sees row j: itself and its ancestors.
std::vector<uint64_t> tree_mask(const TokenTree& tree);

}  // namespace slipstream
