// One tree of the guesses of several drafters. A step verifies it in one pass: a token that two of
// them guess behind the same tokens is one node, and costs one row.
//
// Exact for greedy and coupled acceptance, where a guess can only be right or wrong about the
// target's own choice, so any set of guesses may be verified. Not for rules that weigh the
// distributions that a tree was sampled from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/speculation/token_tree.h"

namespace slipstream {

struct MergedTree {
  TokenTree tree;
  int shared = 0;  // nodes that both trees have
  int cut = 0;     // nodes beyond kTreeNodesMax, of those that survive least
};

// A node that both trees have survives as the more confident of them says. REQUIRES: siblings of a
// tree carry different tokens.
MergedTree merge(const TokenTree& first, const TokenTree& second);

// [part.size()] the node of `whole` that has the same tokens on its path; -1: there is none.
std::vector<int32_t> places(const TokenTree& part, const TokenTree& whole);

}  // namespace slipstream
