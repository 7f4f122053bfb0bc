#include "common/speculation/token_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/speculation/tree_rows.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kVocabulary = 100;

std::string refusal(std::vector<TreeNode> nodes) {
  const auto tree = TokenTree::make(std::move(nodes), kVocabulary);
  return tree ? "accepted" : tree.error().message;
}

TokenTree tree_of(std::vector<TreeNode> nodes) {
  auto tree = TokenTree::make(std::move(nodes), kVocabulary);
  EXPECT_TRUE(tree.has_value()) << tree.error().message;
  return *tree;
}

TEST(TokenTree, TakesAWellFormedTree) {
  EXPECT_EQ(refusal({{7, kRoot, 0.9F}, {8, kRoot, 0.1F}, {7, 0, 0.9F}, {7, 1, 0.0F}}), "accepted");
}

TEST(TokenTree, RefusesTokensOutsideTheVocabulary) {
  EXPECT_THAT(refusal({{kVocabulary, kRoot, 1}}), HasSubstr("node 0 carries token 100"));
  EXPECT_THAT(refusal({{1, kRoot, 1}, {-1, 0, 1}}), HasSubstr("node 1 carries token -1"));
}

TEST(TokenTree, RefusesParentsThatDoNotComeBefore) {
  EXPECT_THAT(refusal({{1, 0, 1}}), HasSubstr("node 0 has parent 0"));
  EXPECT_THAT(refusal({{1, kRoot, 1}, {1, 2, 1}, {1, 1, 1}}), HasSubstr("node 1 has parent 2"));
  EXPECT_THAT(refusal({{1, -2, 1}}), HasSubstr("node 0 has parent -2"));
  EXPECT_THAT(refusal({{1, INT32_MIN, 1}}), HasSubstr("parent"));
  EXPECT_THAT(refusal({{1, INT32_MAX, 1}}), HasSubstr("parent"));
}

TEST(TokenTree, RefusesSurvivalsThatAreNoProbabilities) {
  for (float survival : {-0.1F, 1.1F, NAN, INFINITY, -INFINITY}) {
    EXPECT_THAT(refusal({{1, kRoot, survival}}), HasSubstr("survival")) << survival;
  }
}

TEST(TokenTree, RefusesAChildThatOutlivesItsParent) {
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}, {1, 0, 0.6F}}), HasSubstr("node 1 has survival 0.6"));
}

TEST(TokenTree, RefusesSiblingsWithOneToken) {
  EXPECT_THAT(refusal({{1, kRoot, 1}, {2, 0, 1}, {2, 0, 1}}), HasSubstr("nodes 1 and 2 are siblings"));
}

TEST(TokenTree, RefusesMoreNodesThanTheLimit) {
  std::vector<TreeNode> nodes;
  for (int i = 0; i < kTreeNodesMax; ++i) nodes.push_back({i, kRoot, 0.5F});
  EXPECT_EQ(refusal(nodes), "accepted");
  nodes.push_back({99, kRoot, 0.5F});
  EXPECT_THAT(refusal(nodes), HasSubstr("64 nodes"));
}

TEST(TokenTree, RefusesMoreDepthThanTheLimit) {
  std::vector<TreeNode> nodes;
  for (int i = 0; i < kTreeDepthMax; ++i) nodes.push_back({1, i - 1, 1});
  EXPECT_EQ(refusal(nodes), "accepted");
  nodes.push_back({1, kTreeDepthMax - 1, 1});
  EXPECT_THAT(refusal(nodes), HasSubstr("33 deep"));
}

TEST(TokenTree, AChainsSurvivalsAreThePowersOfItsConfidence) {
  const TokenTree chain = TokenTree::chain(std::vector<TokenId>{5, 6, 7}, 0.5F);
  EXPECT_THAT(chain.nodes(), ElementsAre(TreeNode{5, kRoot, 0.5F}, TreeNode{6, 0, 0.25F}, TreeNode{7, 1, 0.125F}));
}

TEST(TokenTree, AChainIsCutAtTheDepthLimitAndValid) {
  const TokenTree chain = TokenTree::chain(std::vector<TokenId>(100, 3), 0.9F);
  EXPECT_EQ(chain.size(), kTreeDepthMax);
  EXPECT_EQ(refusal({chain.nodes().begin(), chain.nodes().end()}), "accepted");
}

TEST(TokenTree, FindsChildrenAndDepths) {
  const TokenTree tree = tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {7, 1, 1}, {9, 2, 1}});
  EXPECT_EQ(tree.child(kRoot, 8), 1);
  EXPECT_EQ(tree.child(1, 7), 2);
  EXPECT_EQ(tree.child(0, 7), -1);
  EXPECT_EQ(tree.child(kRoot, -1), -1);
  EXPECT_EQ(tree.depth(0), 1);
  EXPECT_EQ(tree.depth(3), 3);
}

TEST(TokenTree, TrimCutsTheSiblingSetOfTheLeastSurvivingParent) {
  TokenTree tree = tree_of({{1, kRoot, 0.9F}, {2, kRoot, 0.3F}, {3, 0, 0.8F}, {4, 0, 0.1F}, {5, 1, 0.3F}});
  EXPECT_THAT(tree.trim(4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(tree.nodes(),
              ElementsAre(TreeNode{1, kRoot, 0.9F}, TreeNode{2, kRoot, 0.3F}, TreeNode{3, 0, 0.8F}, TreeNode{4, 0, 0.1F}));
  EXPECT_THAT(tree.trim(3), ElementsAre(0, 1));
  EXPECT_EQ(tree.size(), 2);
  EXPECT_THAT(tree.trim(1), IsEmpty());
  EXPECT_TRUE(tree.empty());
}

TEST(TokenTree, TrimKeepsATreeWithinItsBudget) {
  TokenTree tree = TokenTree::chain(std::vector<TokenId>{1, 2, 3}, 1.0F);
  EXPECT_THAT(tree.trim(3), ElementsAre(0, 1, 2));
  EXPECT_THAT(tree.trim(2), ElementsAre(0, 1));
  EXPECT_THAT(tree.trim(-1), IsEmpty());
}

std::vector<TreeNode> random_tree(std::mt19937_64& random) {
  std::vector<TreeNode> nodes;
  const auto size = static_cast<int>(random() % (kTreeNodesMax + 1));
  std::set<std::pair<int32_t, TokenId>> taken;
  std::vector<int> depth;
  for (int tries = 0; static_cast<int>(nodes.size()) < size && tries < 1000; ++tries) {
    const auto parent = static_cast<int32_t>(random() % (nodes.size() + 1)) - 1;
    const auto token = static_cast<TokenId>(random() % kVocabulary);
    const int deep = parent == kRoot ? 1 : depth[parent] + 1;
    if (deep > kTreeDepthMax || !taken.insert({parent, token}).second) continue;
    const float above = parent == kRoot ? 1.0F : nodes[parent].survival;
    nodes.push_back({token, parent, above * static_cast<float>(random() % 5) / 4.0F});
    depth.push_back(deep);
  }
  return nodes;
}

TEST(TokenTree, WhatTrimLeavesIsAValidTreeOfWholeSiblingSets) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const TokenTree before = tree_of(random_tree(random));
    TokenTree after = before;
    const auto budget = static_cast<int>(random() % (kTreeNodesMax + 1));
    const std::vector<int32_t> stayed = after.trim(budget);
    ASSERT_EQ(static_cast<int>(stayed.size()), after.size());
    for (int node = 0; node < after.size(); ++node) {
      ASSERT_EQ(after.nodes()[node].token, before.nodes()[static_cast<size_t>(stayed[static_cast<size_t>(node)])].token);
    }
    EXPECT_LE(after.size(), std::max(budget, 0));
    ASSERT_EQ(refusal({after.nodes().begin(), after.nodes().end()}), "accepted");
    // Follow each node of the trimmed tree in the full one: it must keep all of its children or
    // none.
    std::vector<int> origin{kRoot};
    for (int node = 0; node < after.size(); ++node) {
      const TreeNode& kept = after.nodes()[node];
      origin.push_back(before.child(origin[kept.parent + 1], kept.token));
    }
    for (size_t row = 0; row < origin.size(); ++row) {
      const auto parent_is = [](int parent) { return [parent](const TreeNode& node) { return node.parent == parent; }; };
      const auto now = std::ranges::count_if(after.nodes(), parent_is(static_cast<int>(row) - 1));
      const auto was = std::ranges::count_if(before.nodes(), parent_is(origin[row]));
      ASSERT_TRUE(now == 0 || now == was);
    }
  }
}

TEST(TokenTree, TrimDependsOnNoToken) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 500; ++i) {
    std::vector<TreeNode> nodes = random_tree(random);
    TokenTree tree = tree_of(nodes);
    for (TreeNode& node : nodes) node.token = kVocabulary - 1 - node.token;
    TokenTree renamed = tree_of(nodes);
    const auto budget = static_cast<int>(random() % 32);
    tree.trim(budget);
    renamed.trim(budget);
    ASSERT_EQ(tree.size(), renamed.size());
    for (int node = 0; node < tree.size(); ++node) {
      ASSERT_EQ(tree.nodes()[node].token, kVocabulary - 1 - renamed.nodes()[node].token);
      ASSERT_EQ(tree.nodes()[node].parent, renamed.nodes()[node].parent);
    }
  }
}

std::vector<uint64_t> ancestors(const TokenTree& tree) {
  std::vector<uint64_t> words;
  for (const TreeRow& row : tree_rows(tree)) words.push_back(row.ancestors);
  return words;
}

TEST(TreeRows, ARowSeesItselfAndItsAncestorsOnly) {
  const TokenTree tree = tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {7, 1, 1}, {9, 2, 1}});
  EXPECT_THAT(ancestors(tree), ElementsAre(0b00001, 0b00011, 0b00101, 0b01101, 0b11101));
}

TEST(TreeRows, ATreeWithoutNodesIsTheRootAlone) { EXPECT_THAT(ancestors(TokenTree()), ElementsAre(1)); }

TEST(TreeRows, NodeIIsRowIPlusOneWithItsTokenParentAndDepth) {
  const std::vector<TreeRow> rows = tree_rows(tree_of({{7, kRoot, 1}, {8, kRoot, 1}, {9, 1, 1}}));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].parent, -1);
  EXPECT_EQ(rows[2].parent, 0);
  EXPECT_EQ(rows[3].parent, 2);
  EXPECT_EQ(rows[3].token, 9);
  EXPECT_EQ(rows[3].depth, 2);
}

TEST(TreeRows, HasABitPerLevelOfEachRow) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    for (const TreeRow& row : tree_rows(tree_of(random_tree(random)))) {
      EXPECT_EQ(std::popcount(row.ancestors), row.depth + 1);
    }
  }
}

}  // namespace
}  // namespace slipstream
