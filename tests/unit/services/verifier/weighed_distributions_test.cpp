#include "services/verifier/weighed_distributions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

// Weighs each token by its id and one more, of a vocabulary of ten.
class ByIds final : public RowWeigher {
 public:
  Result<RowWeights> weigh(const Step&, std::span<const RowTokens> rows) override {
    RowWeights weights;
    for (const RowTokens& row : rows) {
      asked.push_back(row.wanted);
      temperatures.push_back(row.params.temperature);
      weights.totals.push_back(55);
      for (const TokenId token : row.tokens) weights.weights.push_back(static_cast<uint64_t>(token) + 1);
    }
    return weights;
  }
  Result<TokenId> token_at(size_t i, uint64_t mark, std::span<const TokenId> without) override {
    if (fails) return fail("the GPU is gone");
    found.push_back({i, mark, {without.begin(), without.end()}});
    return 7;
  }

  struct Found {
    size_t row;
    uint64_t mark;
    std::vector<TokenId> without;
    bool operator==(const Found&) const = default;
  };
  std::vector<int32_t> asked;
  std::vector<float> temperatures;
  std::vector<Found> found;
  bool fails = false;
};

RejectionTask task(size_t first, Rule rule, const std::vector<TokenId>& children) {
  std::vector<TreeNode> nodes;
  OwnedDistribution q;
  for (const TokenId token : children) {
    nodes.push_back({token, kRoot, 1});
    q.add(token, kDraftDistributionTotal / children.size());
  }
  std::vector<OwnedDistribution> rows(nodes.size() + 1);
  rows[0] = q;
  return {.first_wanted = first,
          .tree = DraftTree::make(nodes, std::move(rows), Replacement::without, 10).value(),
          .acceptance = {.rule = rule},
          .sampling = {.temperature = 0.5F}};
}

TEST(WeighedDistributions, AskForTheTokensThatTheChildrenWereSampledFrom) {
  ByIds weigher;
  const std::vector<RejectionTask> tasks{task(4, Rule::ratio, {2, 5}), task(7, Rule::typical, {1}), task(9, Rule::ratio, {8})};
  const WeighedRows weighed = weigh(weigher, {}, tasks).value();
  EXPECT_THAT(weigher.asked, ElementsAre(4, 5, 6, 9, 10)) << "typical acceptance reads whole rows";
  EXPECT_THAT(weigher.temperatures, testing::Each(0.5F)) << "those of the tasks: the step samples nothing";
  WeighedDistributions last(weigher, weighed, 3, tasks[2]);
  const TokenDistribution p = last.weights_of(0, tasks[2].tree.distribution(0).ids);
  EXPECT_EQ(p.weight(8), 9U);
  EXPECT_EQ(p.total, 55U);
  EXPECT_EQ(p.at(20, std::vector<TokenId>{8}), 7);
  EXPECT_THAT(weigher.found, ElementsAre(ByIds::Found{3, 20, {8}}));
  EXPECT_TRUE(last.weights_of(1, {}).ids.empty());
}

TEST(WeighedDistributions, KeepAnErrorOfTheDevice) {
  ByIds weigher;
  weigher.fails = true;
  const std::vector<RejectionTask> tasks{task(0, Rule::ratio, {2})};
  const WeighedRows weighed = weigh(weigher, {}, tasks).value();
  WeighedDistributions distributions(weigher, weighed, 0, tasks[0]);
  EXPECT_TRUE(distributions.status());
  EXPECT_EQ(distributions.weights_of(1, {}).at(0, {}), -1);
  EXPECT_EQ(distributions.status().error().message, "the GPU is gone");
}

}  // namespace
}  // namespace slipstream
