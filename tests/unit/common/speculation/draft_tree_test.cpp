#include "common/speculation/draft_tree.h"

#include <gmock/gmock.h>

#include "common/speculation/drawn_growth.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kVocabulary = 100;

OwnLaw law_of(std::vector<std::pair<TokenId, uint64_t>> weights) {
  OwnLaw law;
  for (const auto& [id, weight] : weights) law.add(id, weight);
  return law;
}
OwnLaw halves() { return law_of({{1, kDraftLawTotal / 2}, {2, kDraftLawTotal / 2}}); }

std::string refusal(std::vector<TreeNode> nodes, std::vector<OwnLaw> laws, Replacement replacement = Replacement::without) {
  const auto drawn = DraftTree::make(std::move(nodes), std::move(laws), replacement, kVocabulary);
  return drawn ? "accepted" : drawn.error().message;
}

TEST(DraftTree, TakesATreeWithItsLaws) {
  EXPECT_EQ(refusal({}, {{}}), "accepted");
  EXPECT_EQ(refusal({{1, kRoot, 0.5F}, {2, kRoot, 0.5F}}, {halves(), {}, {}}), "accepted");
  EXPECT_EQ(refusal({{1, kRoot, 0.5F}, {1, kRoot, 0.5F}}, {halves(), {}, {}}, Replacement::with), "accepted");
}

TEST(DraftTree, RefusesALawThatIsNone) {
  const std::vector<TreeNode> one{{1, kRoot, 0.5F}};
  const auto with = [&](const OwnLaw& law) { return refusal(one, {law, {}}); };
  EXPECT_THAT(with(law_of({{1, 5}, {2, 5}})), HasSubstr("add up to 10"));
  EXPECT_THAT(with(law_of({{2, 1}, {1, kDraftLawTotal - 1}})), HasSubstr("ascending"));
  EXPECT_THAT(with(law_of({{1, kDraftLawTotal - 1}, {kVocabulary, 1}})), HasSubstr("ids from 2 to 99"));
  EXPECT_THAT(with(law_of({{-1, 1}, {1, kDraftLawTotal - 1}})), HasSubstr("ids from 0"));
  EXPECT_THAT(with(law_of({{1, kDraftLawTotal}, {2, 0}})), HasSubstr("weight 0"));
  OwnLaw wraps = law_of({{1, kDraftLawTotal + 1}, {2, ~uint64_t{0}}});
  EXPECT_THAT(with(wraps), HasSubstr("send 1 to"));
  OwnLaw wide;
  for (TokenId id = 0; id < 65; ++id) wide.add(id, id == 0 ? kDraftLawTotal - 64 : 1);
  EXPECT_THAT(with(wide), HasSubstr("at most 64"));
}

TEST(DraftTree, RefusesATokenThatItsLawCannotGive) {
  EXPECT_THAT(refusal({{3, kRoot, 0.5F}}, {halves(), {}}), HasSubstr("cannot give it"));
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {{}, {}}), HasSubstr("row 0 has children and no law"));
}

TEST(DraftTree, RefusesALawWithoutChildrenAndAMissingOne) {
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {halves(), halves()}), HasSubstr("row 1 has a law and no children"));
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}}, {halves()}), HasSubstr("2 rows has 1 laws"));
}

TEST(DraftTree, RefusesRepeatsThatWereDrawnWithoutReplacement) {
  EXPECT_THAT(refusal({{1, kRoot, 0.5F}, {1, kRoot, 0.5F}}, {halves(), {}, {}}), HasSubstr("same token"));
}

TEST(DraftTree, TrimKeepsEachSetWithItsLaw) {
  const OwnLaw deep = law_of({{7, kDraftLawTotal}}), deepest = law_of({{5, kDraftLawTotal}});
  auto drawn = DraftTree::make({{1, kRoot, 0.2F}, {2, kRoot, 0.8F}, {7, 0, 0.2F}, {7, 1, 0.8F}, {5, 3, 0.7F}},
                               {halves(), deep, deep, {}, deepest, {}}, Replacement::without, kVocabulary);
  ASSERT_TRUE(drawn) << drawn.error().message;
  drawn->trim(4);
  ASSERT_EQ(drawn->size(), 4);
  EXPECT_EQ(drawn->tree().nodes()[2].parent, 1);
  EXPECT_EQ(drawn->tree().nodes()[3].parent, 2);
  EXPECT_THAT(drawn->law(0).ids, ElementsAre(1, 2));
  EXPECT_TRUE(drawn->law(1).empty()) << "its child is gone";
  EXPECT_THAT(drawn->law(2).ids, ElementsAre(7));
  EXPECT_THAT(drawn->law(3).ids, ElementsAre(5)) << "of a node that moved up";
  drawn->trim(0);
  EXPECT_EQ(drawn->size(), 0);
  EXPECT_TRUE(drawn->law(0).empty());
}

// Draws the lowest token that is left.
class Lowest final : public Dice {
 public:
  bool accept(double) override { return true; }
  size_t pick(std::span<const double>) override { return 0; }
  TokenId draw(const Law& law, std::span<const TokenId> without) override {
    for (const TokenId id : law.ids) {
      if (std::ranges::find(without, id) == without.end()) return id;
    }
    return -1;
  }
};

DraftTree grow(const DrawShape& shape, const OwnLaw& law) {
  DrawnGrowth growth(shape);
  Lowest dice;
  while (!growth.frontier().empty()) growth.add(std::vector<Law>(growth.frontier().size(), law.view()), dice);
  return growth.tree();
}

std::vector<int32_t> parents(const DraftTree& drawn) {
  std::vector<int32_t> parents;
  for (const TreeNode& node : drawn.tree().nodes()) parents.push_back(node.parent);
  return parents;
}

TEST(DrawnGrowth, GrowsChainsTreesAndBatches) {
  const OwnLaw law = law_of({{1, kDraftLawTotal / 2}, {2, kDraftLawTotal / 4}, {3, kDraftLawTotal / 4}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 4}}, law)), ElementsAre(kRoot, 0, 1, 2));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 7}, .root_children = 2, .children = 2}, law)),
              ElementsAre(kRoot, kRoot, 0, 0, 1, 1));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 6}, .root_children = 3, .replacement = Replacement::with}, law)),
              ElementsAre(kRoot, kRoot, kRoot, 0, 1, 2));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 9, .depth_max = 2}}, law)), ElementsAre(kRoot, 0));
}

TEST(DrawnGrowth, NeverDrawsPartOfASiblingSet) {
  const OwnLaw law = law_of({{1, kDraftLawTotal / 2}, {2, kDraftLawTotal / 2}});
  EXPECT_EQ(grow({.stop = {.nodes_max = 5}, .root_children = 2, .children = 2}, law).tree().size(), 4);
}

TEST(DrawnGrowth, DrawsNarrowerSetsWhereTheBudgetIsSmaller) {
  const OwnLaw law = law_of({{1, kDraftLawTotal / 2}, {2, kDraftLawTotal / 4}, {3, kDraftLawTotal / 4}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 1}, .root_children = 2, .children = 2}, law)), ElementsAre(kRoot));
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 3}, .root_children = 8, .replacement = Replacement::with}, law)),
              ElementsAre(kRoot, kRoot, kRoot));
}

TEST(DrawnGrowth, DrawsNoMoreDistinctTokensThanTheLawHas) {
  const OwnLaw law = law_of({{5, kDraftLawTotal}});
  EXPECT_THAT(parents(grow({.stop = {.nodes_max = 6, .depth_max = 2}, .root_children = 3, .children = 3}, law)),
              ElementsAre(kRoot, 0));
  EXPECT_THAT(
      parents(grow({.stop = {.nodes_max = 6, .depth_max = 1}, .root_children = 3, .replacement = Replacement::with}, law)),
      ElementsAre(kRoot, kRoot, kRoot));
}

TEST(DrawnGrowth, GivesNoChildrenToWhatHardlySurvives) {
  const OwnLaw law = law_of({{1, kDraftLawTotal / 4}, {2, kDraftLawTotal * 3 / 4}});
  const DraftTree drawn =
      grow({.stop = {.nodes_max = 8, .depth_max = 3, .threshold = 0.5F}, .root_children = 2, .children = 2}, law);
  EXPECT_THAT(parents(drawn), ElementsAre(kRoot, kRoot, 1, 1, 3, 3)) << "of each pair only the likely one goes on";
}

TEST(DrawnGrowth, GoesToEveryLimit) {
  OwnLaw wide;
  for (TokenId id = 0; id < 64; ++id) wide.add(id, kDraftLawTotal / 64);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1000, .depth_max = 1000}}, wide).tree().size(), kTreeDepthMax);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1000, .depth_max = 1000}, .root_children = 63}, wide).tree().size(), kTreeNodesMax);
  EXPECT_EQ(grow({.stop = {.nodes_max = 1}}, wide).tree().size(), 1);
  EXPECT_EQ(grow({.stop = {.nodes_max = 0}}, wide).tree().size(), 0);
}

TEST(DrawnGrowth, KeepsWhatItHasWhenItIsStopped) {
  const OwnLaw law = law_of({{5, kDraftLawTotal}});
  DrawnGrowth growth({.stop = {.nodes_max = 6}});
  Lowest dice;
  growth.add(std::vector<Law>{law.view()}, dice);
  growth.stop();
  EXPECT_TRUE(growth.frontier().empty());
  EXPECT_EQ(growth.tree().tree().size(), 1);
}

}  // namespace
}  // namespace slipstream
