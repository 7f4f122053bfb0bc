#include "common/speculation/tree_growth.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A model of few tokens whose candidates depend on the whole path, so that no two nodes are alike.
class PathModel {
 public:
  PathModel(uint64_t seed, int width) : seed_(seed), width_(width) {}

  std::vector<Ranked> candidates(std::span<const TokenId> path) const {
    uint64_t hash = seed_;
    for (const TokenId token : path) hash = (hash ^ static_cast<uint64_t>(token + 1)) * 0x9E3779B97F4A7C15ull;
    std::mt19937_64 random(hash);
    std::vector<float> share(static_cast<size_t>(width_));
    float sum = 0;
    for (float& each : share) sum += each = static_cast<float>(random() % 1000 + 1);
    std::ranges::sort(share, std::ranges::greater{});
    std::vector<Ranked> ranked;
    for (int i = 0; i < width_; ++i) ranked.push_back({(i * 7 + 3) % 31, share[static_cast<size_t>(i)] / sum});
    return ranked;
  }

 private:
  uint64_t seed_;
  int width_;
};

std::vector<TokenId> path_of(const TreeGrowth& growth, TreeGrowth::Row row) {
  std::vector<TokenId> path;
  while (row.parent >= 0) {
    path.insert(path.begin(), row.token);
    row = growth.rows()[static_cast<size_t>(row.parent)];
  }
  return path;
}

// Grows to the end; returns how many levels were forwarded.
int grow(TreeGrowth& growth, const PathModel& model) {
  int levels = 0;
  for (; !growth.frontier().empty(); ++levels) {
    std::vector<std::vector<Ranked>> held;
    for (const TreeGrowth::Row& row : growth.frontier()) held.push_back(model.candidates(path_of(growth, row)));
    const std::vector<std::span<const Ranked>> candidates(held.begin(), held.end());
    growth.add(candidates);
  }
  return levels;
}

struct Plain {
  std::vector<TokenId> path;
  float survival;
};

// Every node down to the depth, forwarded or not.
std::vector<Plain> all_nodes(const PathModel& model, const StopRule& rule) {
  std::vector<Plain> nodes{{{}, 1.0F}};
  for (size_t at = 0; at < nodes.size(); ++at) {
    if (static_cast<int>(nodes[at].path.size()) >= rule.depth_max) continue;
    for (const Ranked& each : model.candidates(nodes[at].path)) {
      Plain node{nodes[at].path, nodes[at].survival * each.confidence};
      node.path.push_back(each.token);
      if (1.0F - node.survival <= rule.threshold) nodes.push_back(std::move(node));
    }
  }
  nodes.erase(nodes.begin());
  return nodes;
}

std::vector<float> survivals(const TokenTree& tree) {
  std::vector<float> all;
  for (const TreeNode& node : tree.nodes()) all.push_back(node.survival);
  std::ranges::sort(all, std::ranges::greater{});
  return all;
}

TEST(TreeGrowth, IsTheBestTreeThatForwardingEveryNodeWouldGive) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const StopRule rule{.nodes_max = 1 + static_cast<int>(random() % 9),
                        .depth_max = 1 + static_cast<int>(random() % 5),
                        .threshold = random() % 2 == 0 ? 1.0F : 0.9F};
    const PathModel model(random(), 1 + static_cast<int>(random() % 4));
    TreeGrowth growth(rule);
    grow(growth, model);
    std::vector<float> expected;
    for (const Plain& node : all_nodes(model, rule)) expected.push_back(node.survival);
    std::ranges::sort(expected, std::ranges::greater{});
    expected.resize(std::min(expected.size(), static_cast<size_t>(rule.nodes_max)));
    ASSERT_EQ(survivals(growth.tree()), expected) << "trial " << trial;
  }
}

TEST(TreeGrowth, FollowsTheModelAlongEveryPath) {
  const PathModel model(5, 3);
  TreeGrowth growth({.nodes_max = 20, .depth_max = 6});
  grow(growth, model);
  const TokenTree tree = growth.tree();
  ASSERT_EQ(tree.size(), 20);
  for (int at = 0; at < tree.size(); ++at) {
    std::vector<TokenId> path;
    for (int up = tree.nodes()[at].parent; up != kRoot; up = tree.nodes()[up].parent) {
      path.insert(path.begin(), tree.nodes()[up].token);
    }
    const auto candidates = model.candidates(path);
    EXPECT_NE(std::ranges::find(candidates, tree.nodes()[at].token, &Ranked::token), candidates.end());
  }
}

TEST(TreeGrowth, ForwardsNoNodeTwiceAndNoneDeeperThanNeeded) {
  const PathModel model(6, 4);
  for (int depth = 1; depth <= 5; ++depth) {
    TreeGrowth growth({.nodes_max = 12, .depth_max = depth});
    EXPECT_LE(grow(growth, model), depth);  // the deepest nodes are guessed, not forwarded
    for (const TreeGrowth::Row& row : growth.rows()) EXPECT_LT(row.depth, depth);
  }
}

TEST(TreeGrowth, MakesAChainOfOneCandidateALevel) {
  const PathModel model(7, 1);
  TreeGrowth growth({.nodes_max = 5, .depth_max = 8});
  EXPECT_EQ(grow(growth, model), 5);
  const TokenTree tree = growth.tree();
  ASSERT_EQ(tree.size(), 5);
  for (int at = 0; at < 5; ++at) EXPECT_EQ(tree.nodes()[at].parent, at - 1);
}

TEST(TreeGrowth, KeepsEveryRowsAncestorsInOneWord) {
  const PathModel model(8, 4);
  TreeGrowth growth({.nodes_max = kTreeNodesMax, .depth_max = kTreeDepthMax});
  grow(growth, model);
  EXPECT_THAT(growth.rows(), SizeIs(testing::Le(static_cast<size_t>(kTreeNodesMax) + 1)));
  for (size_t row = 0; row < growth.rows().size(); ++row) {
    uint64_t expected = 0;
    for (auto up = static_cast<int32_t>(row); up >= 0; up = growth.rows()[static_cast<size_t>(up)].parent) {
      expected |= uint64_t{1} << up;
    }
    EXPECT_EQ(growth.rows()[row].ancestors, expected);
  }
}

TEST(TreeGrowth, StopsWhereNothingSurvivesTheThreshold) {
  const PathModel model(9, 4);
  TreeGrowth growth({.nodes_max = 8, .depth_max = 8, .threshold = 0.0F});
  EXPECT_EQ(grow(growth, model), 1);
  EXPECT_TRUE(growth.tree().empty());
}

TEST(TreeGrowth, GrowsNothingForAnEmptyBudget) {
  EXPECT_THAT(TreeGrowth({.nodes_max = 0}).frontier(), IsEmpty());
  EXPECT_THAT(TreeGrowth({.depth_max = 0}).frontier(), IsEmpty());
  EXPECT_TRUE(TreeGrowth({.nodes_max = 0}).tree().empty());
}

TEST(TreeGrowth, KeepsWhatItHasWhenToldToStop) {
  const PathModel model(10, 2);
  TreeGrowth growth({.nodes_max = 8, .depth_max = 8});
  const auto first = model.candidates({});
  const std::vector<std::span<const Ranked>> candidates{first};
  growth.add(candidates);
  growth.stop();
  EXPECT_THAT(growth.frontier(), IsEmpty());
  EXPECT_THAT(growth.rows(), SizeIs(1));  // the root alone was forwarded
  EXPECT_EQ(growth.tree().size(), 2);
}

// The frontier has one node of survival 0.8, whose child is taken to be as likely: 0.64 tokens.
TEST(TreeGrowth, ForwardsALevelThatPaysForItsPass) {
  const auto levels = [](float price) {
    TreeGrowth growth({.nodes_max = 8, .depth_max = 2, .level_price = price});
    const std::vector<Ranked> one{{5, 0.8F}};
    int forwarded = 0;
    for (; !growth.frontier().empty(); ++forwarded) growth.add(std::vector<std::span<const Ranked>>{one});
    return forwarded;
  };
  EXPECT_EQ(levels(0.63F), 2);
  EXPECT_EQ(levels(0.65F), 1);
}

TEST(TreeGrowth, DraftsTheLikeliestTokensAloneWhereChainsAreAskedFor) {
  const auto length = [](const StopRule& rule) {
    TreeGrowth growth(rule);
    const std::vector<Ranked> two{{5, 0.6F}, {6, 0.3F}};
    while (!growth.frontier().empty()) growth.add(std::vector<std::span<const Ranked>>(growth.frontier().size(), two));
    const TokenTree tree = growth.tree();
    for (const TreeNode& node : tree.nodes()) EXPECT_EQ(node.token, 5);
    return tree.size();
  };
  EXPECT_EQ(length({.nodes_max = 4, .depth_max = 4, .chain = true}), 4);
  EXPECT_EQ(length({.nodes_max = 4, .depth_max = 4, .threshold = 0.7F, .chain = true}), 2);  // 0.36 is left
  EXPECT_EQ(length({.nodes_max = 4, .depth_max = 4, .confidence_least = 0.61F, .chain = true}), 0);
  EXPECT_EQ(length({.nodes_max = 4, .depth_max = 4, .confidence_least = 0.6F, .chain = true}), 4);
}

// Two candidates, of 0.6 and 0.3; both are read, and each row proposes one child of 0.5.
class ReadTokens : public testing::Test {
 protected:
  void read(std::vector<float> accepted) {
    growth_.add(std::vector<std::span<const Ranked>>{first_},
                std::vector<float>{0.0F});  // the root's chance counts for nothing
    ASSERT_THAT(growth_.frontier(), SizeIs(2));
    growth_.add(std::vector<std::span<const Ranked>>(2, child_), accepted);
  }
  std::vector<TokenId> tokens() const {
    std::vector<TokenId> found;
    const TokenTree tree = growth_.tree();
    for (const TreeNode& node : tree.nodes()) found.push_back(node.token);
    return found;
  }

  const std::vector<Ranked> first_{{5, 0.6F}, {6, 0.3F}}, child_{{7, 0.5F}};
  TreeGrowth growth_{{.nodes_max = 4, .depth_max = 3, .threshold = 0.9F}};
};

TEST_F(ReadTokens, AreAsLikelyAsTheAcceptanceHeadSays) {
  read({0.2F, 0.9F});
  EXPECT_THAT(tokens(), testing::ElementsAre(6, 7, 5, 7));
  EXPECT_THAT(survivals(growth_.tree()), testing::ElementsAre(0.9F, 0.45F, 0.2F, 0.1F));
}

TEST_F(ReadTokens, ThatAreLikelyRejectedStayAndGetNoChildren) {
  read({0.05F, 0.9F});
  EXPECT_THAT(tokens(), testing::ElementsAre(6, 7, 5));
}

TEST_F(ReadTokens, WhoseChanceIsNoNumberKeepTheirConfidenceAndGetNoChildren) {
  read({NAN, 0.1F});
  EXPECT_THAT(tokens(), testing::ElementsAre(5, 6));
  EXPECT_THAT(survivals(growth_.tree()), testing::ElementsAre(0.6F, 0.1F));
}

}  // namespace
}  // namespace slipstream
