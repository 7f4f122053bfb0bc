#include "common/speculation/rejection/draft_tree.h"

#include <gmock/gmock.h>

#include "common/speculation/rejection/sampled_tree_builder.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kVocabulary = 100;

OwnedDistribution distribution_of(std::vector<std::pair<TokenId, uint64_t>> weights) {
  OwnedDistribution distribution;
  for (const auto& [id, weight] : weights) distribution.add(id, weight);
  return distribution;
}
OwnedDistribution halves() { return distribution_of({{1, kDraftDistributionTotal / 2}, {2, kDraftDistributionTotal / 2}}); }

std::string refusal(std::vector<TreeNode> nodes, std::vector<OwnedDistribution> distributions,
                    Replacement replacement = Replacement::without) {
  const auto sampled = DraftTree::make(std::move(nodes), std::move(distributions), replacement, kVocabulary);
  return sampled ? "accepted" : sampled.error().message;
}

TEST(DraftTree, TakesATreeWithItsDistributions) {
  EXPECT_EQ(refusal({}, {{}}), "accepted");
  EXPECT_EQ(refusal({{1, kRoot, 0.5F}, {2, kRoot, 0.5F}}, {halves(), {}, {}}), "accepted");
  EXPECT_EQ(refusal({{1, kRoot, 0.5F}, {1, kRoot, 0.5F}}, {halves(), {}, {}}, Replacement::with), "accepted");
}

TEST(DraftTree, RefusesADistributionThatIsNone) {
  const std::vector<TreeNode> one{{1, kRoot, 0.5F}};
  const auto with = [&](const OwnedDistribution& distribution) { return refusal(one, {distribution, {}}); };
  EXPECT_THAT(with(distribution_of({{1, 5}, {2, 5}})), HasSubstr("add up to 10"));
  EXPECT_THAT(with(distribution_of({{2, 1}, {1, kDraftDistributionTotal - 1}})), HasSubstr("ascending"));
  EXPECT_THAT(with(distribution_of({{1, kDraftDistributionTotal - 1}, {kVocabulary, 1}})), HasSubstr("ids from 2 to 99"));
  EXPECT_THAT(with(distribution_of({{-1, 1}, {1, kDraftDistributionTotal - 1}})), HasSubstr("ids from 0"));
  EXPECT_THAT(with(distribution_of({{1, kDraftDistributionTotal}, {2, 0}})), HasSubstr("weight 0"));
  OwnedDistribution wraps = distribution_of({{1, kDraftDistributionTotal + 1}, {2, ~uint64_t{0}}});
  EXPECT_THAT(with(wraps), HasSubstr("send 1 to"));
  OwnedDistribution wide;
  for (TokenId id = 0; id < 65; ++id) wide.add(id, id == 0 ? kDraftDistributionTotal - 64 : 1);
  EXPECT_THAT(with(wide), HasSubstr("at most 64"));
}

TEST(DraftTree, RefusesATokenThatItsDistributionCannotGive) {
  EXPECT_THAT(refusal({{3, kRoot, 0.5F}}, {halves(), {}}), HasSubstr("cannot give it"));
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {{}, {}}), HasSubstr("row 0 has children and no distribution"));
}

TEST(DraftTree, RefusesADistributionWithoutChildrenAndAMissingOne) {
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {halves(), halves()}), HasSubstr("row 1 has a distribution and no children"));
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {halves()}), HasSubstr("2 rows has 1 distributions"));
}

TEST(DraftTree, RefusesRepeatsThatWereSampledWithoutReplacement) {
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}, {1, kRoot, 0.5F}}, {halves(), {}, {}}), HasSubstr("same token"));
}

TEST(DraftTree, TrimKeepsEachSetWithItsDistribution) {
  const OwnedDistribution deep = distribution_of({{7, kDraftDistributionTotal}}),
                          deepest = distribution_of({{5, kDraftDistributionTotal}});
  auto sampled = DraftTree::make({{1, kRoot, 0.2F}, {2, kRoot, 0.8F}, {7, 0, 0.2F}, {7, 1, 0.8F}, {5, 3, 0.7F}},
                                 {halves(), deep, deep, {}, deepest, {}}, Replacement::without, kVocabulary);
  ASSERT_TRUE(sampled) << sampled.error().message;
  sampled->trim(4);
  ASSERT_EQ(sampled->size(), 4);
  EXPECT_EQ(sampled->nodes()[2].parent, 1);
  EXPECT_EQ(sampled->nodes()[3].parent, 2);
  EXPECT_THAT(sampled->distribution(0).ids, ElementsAre(1, 2));
  EXPECT_TRUE(sampled->distribution(1).empty()) << "its child is gone";
  EXPECT_THAT(sampled->distribution(2).ids, ElementsAre(7));
  EXPECT_THAT(sampled->distribution(3).ids, ElementsAre(5)) << "of a node that moved up";
  sampled->trim(0);
  EXPECT_EQ(sampled->size(), 0);
  EXPECT_TRUE(sampled->distribution(0).empty());
}

// Draws the lowest token that is left.
class Lowest final : public RandomSource {
 public:
  bool accept(double) override { return true; }
  size_t pick(std::span<const double>) override { return 0; }
  TokenId draw(const TokenDistribution& distribution, std::span<const TokenId> without) override {
    for (const TokenId id : distribution.ids) {
      if (std::ranges::find(without, id) == without.end()) return id;
    }
    return -1;
  }
};

DraftTree grow(const SampledShape& shape, const OwnedDistribution& distribution) {
  SampledTreeBuilder growth(shape);
  Lowest random;
  while (!growth.frontier().empty())
    growth.add(std::vector<TokenDistribution>(growth.frontier().size(), distribution.view()), random);
  return growth.tree();
}

std::vector<int32_t> parents(const DraftTree& sampled) {
  std::vector<int32_t> parents;
  for (const TreeNode& node : sampled.nodes()) parents.push_back(node.parent);
  return parents;
}

TEST(SampledTreeBuilder, GrowsChainsTreesAndBatches) {
  const OwnedDistribution distribution =
      distribution_of({{1, kDraftDistributionTotal / 2}, {2, kDraftDistributionTotal / 4}, {3, kDraftDistributionTotal / 4}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 4}}, distribution)), ElementsAre(kRoot, 0, 1, 2));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 7}, .root_children = 2, .children = 2}, distribution)),
              ElementsAre(kRoot, kRoot, 0, 0, 1, 1));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 6}, .root_children = 3, .replacement = Replacement::with}, distribution)),
              ElementsAre(kRoot, kRoot, kRoot, 0, 1, 2));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 9, .depth_max = 2}}, distribution)), ElementsAre(kRoot, 0));
}

TEST(SampledTreeBuilder, NeverDrawsPartOfASiblingSet) {
  const OwnedDistribution distribution = distribution_of({{1, kDraftDistributionTotal / 2}, {2, kDraftDistributionTotal / 2}});
  EXPECT_EQ(grow({.stop = {.nodes_max = 5}, .root_children = 2, .children = 2}, distribution).size(), 4);
}

TEST(SampledTreeBuilder, DrawsNarrowerSetsWhereTheBudgetIsSmaller) {
  const OwnedDistribution distribution =
      distribution_of({{1, kDraftDistributionTotal / 2}, {2, kDraftDistributionTotal / 4}, {3, kDraftDistributionTotal / 4}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 1}, .root_children = 2, .children = 2}, distribution)), ElementsAre(kRoot));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 3}, .root_children = 8, .replacement = Replacement::with}, distribution)),
              ElementsAre(kRoot, kRoot, kRoot));
}

TEST(SampledTreeBuilder, DrawsNoMoreDistinctTokensThanTheDistributionHas) {
  const OwnedDistribution distribution = distribution_of({{5, kDraftDistributionTotal}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 6, .depth_max = 2}, .root_children = 3, .children = 3}, distribution)),
              ElementsAre(kRoot, 0));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 6, .depth_max = 1}, .root_children = 3, .replacement = Replacement::with},
                           distribution)),
              ElementsAre(kRoot, kRoot, kRoot));
}

TEST(SampledTreeBuilder, GivesNoChildrenToWhatHardlySurvives) {
  const OwnedDistribution distribution =
      distribution_of({{1, kDraftDistributionTotal / 4}, {2, kDraftDistributionTotal * 3 / 4}});
  const DraftTree sampled =
      grow({.stop = {.nodes_max = 8, .depth_max = 3, .threshold = 0.5F}, .root_children = 2, .children = 2}, distribution);
  EXPECT_THAT(parents(sampled), ElementsAre(kRoot, kRoot, 1, 1, 3, 3)) << "of each pair only the likely one goes on";
}

TEST(SampledTreeBuilder, GoesToEveryLimit) {
  OwnedDistribution wide;
  for (TokenId id = 0; id < 64; ++id) wide.add(id, kDraftDistributionTotal / 64);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1000, .depth_max = 1000}}, wide).size(), kTreeDepthMax);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1000, .depth_max = 1000}, .root_children = 63}, wide).size(), kTreeNodesMax);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1}}, wide).size(), 1);
  EXPECT_EQ(grow({.stop = {.nodes_max = 0}}, wide).size(), 0);
}

TEST(SampledTreeBuilder, KeepsWhatItHasWhenItIsStopped) {
  const OwnedDistribution distribution = distribution_of({{5, kDraftDistributionTotal}});
  SampledTreeBuilder growth({.stop = {.nodes_max = 6}});
  Lowest random;
  growth.add(std::vector<TokenDistribution>{distribution.view()}, random);
  growth.stop();
  EXPECT_TRUE(growth.frontier().empty());
  EXPECT_EQ(growth.tree().size(), 1);
}

}  // namespace
}  // namespace slipstream
