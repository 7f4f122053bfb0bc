#include "common/speculation/walk.h"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/speculation/tree_rows.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kTokens = 3;  // vocabulary of the enumeration
constexpr int kNodesEnumerated = 5;

// A target: its own token after every prefix, as an arbitrary function of the prefix.
struct Target {
  uint64_t number;
  TokenId after(std::span<const TokenId> prefix) const {
    uint64_t hash = number * 0x9E3779B97F4A7C15ull + 1;
    for (TokenId token : prefix) hash = (hash ^ static_cast<uint64_t>(token + 1)) * 0xD1342543DE82EF95ull + (hash >> 31);
    return static_cast<TokenId>((hash >> 33) % kTokens);
  }
  std::vector<TokenId> plain(int count) const {
    std::vector<TokenId> out;
    while (static_cast<int>(out.size()) < count) out.push_back(after(out));
    return out;
  }
  // What a verify pass returns: each row sees the tokens that the mask lets it see.
  std::vector<TokenId> rows(const TokenTree& tree) const {
    std::vector<TokenId> sampled_tokens;
    for (const TreeRow& row : tree_rows(tree)) {
      std::vector<TokenId> prefix;
      for (int node = 0; node < tree.size(); ++node) {
        if (row.ancestors >> (node + 1) & 1) prefix.push_back(tree.nodes()[node].token);
      }
      sampled_tokens.push_back(after(prefix));
    }
    return sampled_tokens;
  }
};

// Calls `visit` with every tree of up to kNodesEnumerated nodes, every labelling included.
void each_tree(std::vector<TreeNode>& nodes, const std::function<void(const TokenTree&)>& visit) {
  if (const auto tree = TokenTree::make(nodes, kTokens)) {
    visit(*tree);
  } else {
    return;
  }
  if (nodes.size() == kNodesEnumerated) return;
  for (int32_t parent = kRoot; parent < static_cast<int32_t>(nodes.size()); ++parent) {
    for (TokenId token = 0; token < kTokens; ++token) {
      nodes.push_back({token, parent, 1});
      each_tree(nodes, visit);
      nodes.pop_back();
    }
  }
}

TEST(Walk, NoTreeChangesAWordOfPlainDecoding) {
  std::vector<TreeNode> nodes;
  int trees = 0;
  each_tree(nodes, [&](const TokenTree& tree) {
    ++trees;
    for (uint64_t number = 0; number < 9; ++number) {
      const Target target{number};
      const Walk path = walk(tree, target.rows(tree));
      const std::vector<TokenId> plain = target.plain(kNodesEnumerated + 1);
      ASSERT_EQ(path.emitted.size(), path.accepted.size() + 1);
      ASSERT_TRUE(std::equal(path.emitted.begin(), path.emitted.end(), plain.begin()));
      // And it is as long as the tree allows: the tree has no node for the last token.
      ASSERT_EQ(tree.child(path.accepted.empty() ? kRoot : path.accepted.back(), path.emitted.back()), -1);
    }
  });
  EXPECT_GT(trees, 10000);
}

TEST(NodeFates, AddUpToTheTreeWhereverTheRoundIsCut) {
  std::vector<TreeNode> nodes;
  each_tree(nodes, [&](const TokenTree& tree) {
    for (uint64_t number = 0; number < 3; ++number) {
      const Walk path = walk(tree, Target{number}.rows(tree));
      for (int kept = 0; kept <= static_cast<int>(path.accepted.size()); ++kept) {
        const Fates all = fates(tree, path, kept);
        ASSERT_EQ(all.accepted, kept);
        ASSERT_EQ(all.accepted + all.rejected + all.unreached, tree.size());
        const std::vector<NodeOutcome> each = outcomes(tree, path, kept);
        ASSERT_EQ(static_cast<int>(each.size()), tree.size());
        ASSERT_EQ(std::ranges::count(each, NodeOutcome::accepted), all.accepted);
        ASSERT_EQ(std::ranges::count(each, NodeOutcome::rejected), all.rejected);
        for (int i = 0; i < kept; ++i)
          ASSERT_EQ(each[static_cast<size_t>(path.accepted[static_cast<size_t>(i)])], NodeOutcome::accepted);
      }
    }
  });
}

TokenTree example() {  // 1 -> {2 -> 3, 4 -> 5}, 6 -> 7
  return *TokenTree::make({{1, kRoot, 1}, {6, kRoot, 1}, {2, 0, 1}, {4, 0, 1}, {7, 1, 1}, {3, 2, 1}, {5, 3, 1}}, 10);
}

TEST(Walk, FollowsTheTargetsChoices) {
  //                                       root  1  6  2  4  7  3  5
  const Walk path = walk(example(), std::vector<TokenId>{1, 4, 0, 0, 9, 0, 0, 0});
  EXPECT_THAT(path.accepted, ElementsAre(0, 3));
  EXPECT_THAT(path.emitted, ElementsAre(1, 4, 9));
}

TEST(Walk, IsPlainDecodingWithoutATree) {
  const Walk path = walk(TokenTree(), std::vector<TokenId>{8});
  EXPECT_THAT(path.accepted, IsEmpty());
  EXPECT_THAT(path.emitted, ElementsAre(8));
}

TEST(Walk, EndsAtARowWithoutFiniteLogits) {
  const Walk path = walk(example(), std::vector<TokenId>{1, -1, 0, 0, 9, 0, 0, 0});
  EXPECT_THAT(path.emitted, ElementsAre(1, -1));
}

TEST(NodeFates, RejectedNodesAreThoseWhoseParentWasReached) {
  const Walk path = walk(example(), std::vector<TokenId>{1, 4, 0, 0, 9, 0, 0, 0});
  const Fates all = fates(example(), path, 2);
  EXPECT_EQ(all.accepted, 2);   // 1, 4
  EXPECT_EQ(all.rejected, 3);   // 6, 2, 5
  EXPECT_EQ(all.unreached, 2);  // 7, 3
}

TEST(NodeFates, WhatLiesBehindAStopTokenIsUnreached) {
  const Walk path = walk(example(), std::vector<TokenId>{1, 4, 0, 0, 9, 0, 0, 0});
  const Fates cut = fates(example(), path, 1);
  EXPECT_EQ(cut.accepted, 1);   // 1
  EXPECT_EQ(cut.rejected, 1);   // 6
  EXPECT_EQ(cut.unreached, 5);  // 2, 4, 7, 3, 5
}

}  // namespace
}  // namespace slipstream
