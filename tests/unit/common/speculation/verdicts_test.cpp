#include "common/speculation/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sampling/rank.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

TokenTree tree_of(std::vector<TreeNode> nodes) { return *TokenTree::make(std::move(nodes), 100); }

const TokenTree kSent = tree_of({{11, kRoot, .9F}, {12, 0, .8F}, {21, kRoot, .1F}, {22, 2, .05F}});

TEST(Verdicts, AreInTheDraftersOwnOrder) {
  const TokenTree verified = tree_of({{21, kRoot, .9F}, {22, 0, .8F}, {11, kRoot, .7F}, {12, 2, .6F}});
  const std::vector<TokenId> choices{1, 2, 3, 4, 5};  // after the root, 21, 22, 11, 12
  EXPECT_THAT(verdicts_on(kSent, verified, choices), ElementsAre(1, 4, 5, 2, 3));
}

TEST(Verdicts, ANodeThatWasCutHasNone) {
  const TokenTree verified = tree_of({{11, kRoot, .9F}, {77, 0, .8F}});
  const std::vector<TokenId> choices{1, 2, 3};
  EXPECT_THAT(verdicts_on(kSent, verified, choices), ElementsAre(1, 2, kNoVerdict, kNoVerdict, kNoVerdict));
}

TEST(Verdicts, TheRootHasOneWhereTheWholeTreeWasCut) {
  const std::vector<TokenId> choices{1};
  EXPECT_THAT(verdicts_on(kSent, TokenTree(), choices), ElementsAre(1, -1, -1, -1, -1));
}

// Grows a tree whose root has these two candidates, each with one child.
class Learning : public testing::Test {
 protected:
  void grow(const StopRule& rule = {}) {
    TreeGrowth growth(rule, &calibration);
    while (!growth.frontier().empty()) {
      std::vector<std::vector<Ranked>> ranked;
      for (const TreeRow& row : growth.frontier()) {
        if (row.depth == 0) ranked.push_back({{11, .85F}, {21, .15F}});
        if (row.depth > 0) ranked.push_back({{row.token + 1, .55F}});
      }
      const std::vector<std::span<const Ranked>> candidates(ranked.begin(), ranked.end());
      growth.add(candidates);
    }
    tree = growth.tree();
    proposed = growth.proposed();
  }
  // choices: [nodes + 1].
  void hear(const std::vector<TokenId>& choices, int times = 1) {
    for (int i = 0; i < times; ++i) learn(proposed, choices, calibration, by_depth);
  }

  Calibration calibration;
  DepthReliability by_depth{};
  TokenTree tree;
  std::vector<ProposedChild> proposed;
};

TEST_F(Learning, AChildOffTheAcceptedPathIsRightIfTheTargetChoseItThere) {
  grow({.nodes_max = 4, .depth_max = 2});
  ASSERT_EQ(tree.size(), 4);  // 11, 12, 21, 22
  const float before = calibration.chance(.55F, 2);
  hear({11, 99, kNoVerdict, 22, kNoVerdict}, 50);  // 12 is wrong behind 11; 22 is right behind 21, which was rejected
  EXPECT_NEAR(calibration.chance(.55F, 2), .5, .02);
  hear({11, kNoVerdict, kNoVerdict, 22, kNoVerdict}, 500);
  EXPECT_GT(calibration.chance(.55F, 2), before);
}

TEST_F(Learning, AChildWhoseParentWasNotVerifiedSaysNothing) {
  grow({.nodes_max = 4, .depth_max = 2});
  const float before = calibration.chance(.55F, 2);
  hear({99, kNoVerdict, kNoVerdict, kNoVerdict, kNoVerdict}, 20);
  EXPECT_EQ(calibration.chance(.55F, 2), before);
  EXPECT_LT(calibration.chance(.85F, 1), .3F) << "the root has a verdict";
}

// So a drafter that says too little finds out, although nothing of it is asked for.
TEST_F(Learning, ACandidateThatWasNoNodeIsLearntFrom) {
  grow({.nodes_max = 1, .depth_max = 1});
  ASSERT_EQ(tree.size(), 1);
  hear({21, kNoVerdict}, 20);
  EXPECT_GT(calibration.chance(.15F, 1), .4F);
}

TEST_F(Learning, LaterTreesGrowByWhatWasLearnt) {
  grow({.nodes_max = 1, .depth_max = 1});
  EXPECT_NEAR(tree.nodes()[0].survival, .85, .01);
  hear({99, kNoVerdict}, 20);
  grow({.nodes_max = 1, .depth_max = 1});
  EXPECT_LT(tree.nodes()[0].survival, .3F);
}

TEST_F(Learning, TheChancesOfARowAddUpToOneAtMost) {
  for (int i = 0; i < 300; ++i) calibration.verified(.15F, 1, true);
  for (int i = 0; i < 300; ++i) calibration.verified(.85F, 1, true);
  grow({.nodes_max = 2, .depth_max = 1});
  EXPECT_LE(tree.nodes()[0].survival + tree.nodes()[1].survival, 1.0F);
}

TEST_F(Learning, WhatWasPredictedAndSeenIsCountedByDepth) {
  grow({.nodes_max = 4, .depth_max = 2});
  hear({11, 12, kNoVerdict, 99, kNoVerdict});
  EXPECT_EQ(by_depth[0].nodes, 2U);
  EXPECT_EQ(by_depth[0].accepted, 1U);
  EXPECT_NEAR(by_depth[0].expected, 1, .01);
  EXPECT_EQ(by_depth[1].nodes, 2U);
  EXPECT_EQ(by_depth[1].accepted, 1U);
}

}  // namespace
}  // namespace slipstream
