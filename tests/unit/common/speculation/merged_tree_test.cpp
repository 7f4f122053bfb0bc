#include "common/speculation/merged_tree.h"

#include <random>

#include <gmock/gmock.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

TokenTree tree(std::vector<TreeNode> nodes) { return *TokenTree::make(std::move(nodes), 100); }

// Up to `nodes` nodes with tokens 0 to 2, so that two trees share many paths.
TokenTree random_tree(std::mt19937& random, int nodes) {
  std::vector<TreeNode> made;
  for (int i = 0; i < nodes; ++i) {
    const int parent = std::uniform_int_distribution(-1, static_cast<int>(made.size()) - 1)(random);
    const float reached = parent == kRoot ? 1.0F : made[static_cast<size_t>(parent)].survival;
    const auto token = static_cast<TokenId>(random() % 3);
    const bool known =
        std::ranges::any_of(made, [&](const auto& node) { return node.parent == parent && node.token == token; });
    const float survival = reached * std::uniform_real_distribution(.1F, 1.0F)(random);
    if (!known) made.push_back({.token = token, .parent = parent, .survival = survival});
  }
  return tree(made);
}

int accepted(const TokenTree& tree, std::span<const TokenId> text) {
  int node = kRoot, depth = 0;
  for (const TokenId token : text) {
    if ((node = tree.child(node, token)) < 0) break;
    ++depth;
  }
  return depth;
}

TEST(MergedTree, ATokenThatBothGuessIsOneNode) {
  const MergedTree merged = merge(tree({{7, kRoot, .8F}, {8, 0, .4F}}), tree({{9, kRoot, .6F}, {7, kRoot, .3F}, {5, 1, .2F}}));
  EXPECT_EQ(merged.shared, 1);
  EXPECT_EQ(merged.cut, 0);
  EXPECT_EQ(merged.tree.size(), 4);
  const int seven = merged.tree.child(kRoot, 7);
  EXPECT_GE(merged.tree.child(seven, 8), 0) << "the first tree's guess behind it";
  EXPECT_GE(merged.tree.child(seven, 5), 0) << "and the second's";
}

TEST(MergedTree, ASharedNodeSurvivesAsTheMoreConfidentSays) {
  const MergedTree merged = merge(tree({{7, kRoot, .3F}}), tree({{7, kRoot, .8F}}));
  EXPECT_FLOAT_EQ(merged.tree.nodes()[0].survival, .8F);
}

TEST(MergedTree, KeepsTheLikeliestOfMoreThanATreeHolds) {
  std::vector<TreeNode> many, more;
  for (TokenId token = 0; token < 40; ++token) {
    many.push_back({.token = token, .parent = kRoot, .survival = .5F});
    more.push_back({.token = 40 + token, .parent = kRoot, .survival = .1F});
  }
  const MergedTree merged = merge(tree(more), tree(many));
  EXPECT_EQ(merged.tree.size(), kTreeNodesMax);
  EXPECT_EQ(merged.cut, 80 - kTreeNodesMax);
  for (const TreeNode& node : many) EXPECT_GE(merged.tree.child(kRoot, node.token), 0);
}

TEST(MergedTree, AcceptsOfEveryTextWhatTheBetterTreeAccepts) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const TokenTree first = random_tree(random, 12), second = random_tree(random, 12);
    const TokenTree merged = merge(first, second).tree;
    for (int text = 0; text < 81; ++text) {
      const std::vector<TokenId> tokens{text % 3, text / 3 % 3, text / 9 % 3, text / 27};
      ASSERT_EQ(accepted(merged, tokens), std::max(accepted(first, tokens), accepted(second, tokens)));
    }
  }
}

TEST(MergedTree, PlacesFindsANodeByItsPath) {
  const TokenTree whole = tree({{7, kRoot, .8F}, {8, kRoot, .7F}, {7, 1, .5F}});
  EXPECT_THAT(places(tree({{8, kRoot, 1}, {7, 0, 1}, {8, 0, 1}, {1, 2, 1}}), whole), ElementsAre(1, 2, -1, -1));
}

}  // namespace
}  // namespace slipstream
