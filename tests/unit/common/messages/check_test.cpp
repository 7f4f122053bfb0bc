#include "common/messages/check.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

Start good_start() { return {.spec = {.prompt_length = 1, .output_max = 5}, .tokens = {1, 2}}; }

TEST(MessageCheck, TakesWhatIsWithinTheLimits) {
  EXPECT_TRUE(check(GenerateMessage(good_start())));
  EXPECT_TRUE(check(DraftMessage(Tree{.nodes = {{.token = -7, .parent = 12}}})))
      << "whether it is a tree is TokenTree's to say";
}

TEST(MessageCheck, WantsThePromptWithinTheTokens) {
  Start start = good_start();
  start.spec.prompt_length = 3;
  EXPECT_FALSE(check(GenerateMessage(start)));
}

TEST(MessageCheck, HoldsSamplingToTheRangesOfTheRequest) {
  const auto refused = [](SamplingParams sampling) {
    Start start = good_start();
    start.spec.sampling = sampling;
    return !check(GenerateMessage(start)).has_value();
  };
  EXPECT_FALSE(refused({.temperature = 0}));
  EXPECT_FALSE(refused({.temperature = kTemperatureMin}));
  EXPECT_TRUE(refused({.temperature = kTemperatureMin / 2}));
  EXPECT_TRUE(refused({.temperature = std::nanf("")}));
  EXPECT_TRUE(refused({.top_k = -1}));
  EXPECT_TRUE(refused({.top_p = 0}));
  EXPECT_TRUE(refused({.min_p = 1}));
}

TEST(MessageCheck, NamesTheFieldAndTheLimit) {
  const auto result = check(DraftMessage(Advance{.tokens = std::vector<TokenId>(kAdvanceTokensMax + 1)}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "Advance.tokens has 4097 entries, the limit is 4096");
}

// Two tokens, and the tree of the round that emitted them.
Tokens reported(int32_t first_index = 5) {
  return {.first_index = 5,
          .ids = {1, 2},
          .drafted = {1, 0},
          .depths = {1, 1},
          .trees = {{.first_index = first_index,
                     .own = 2,
                     .proposers = {{"ngram", ""}},
                     .nodes = {{.token = 1, .parent = kRoot, .chance = 0.5F, .by = 0}, {.token = 3, .parent = 0}}}}};
}

TEST(MessageCheck, HoldsReportsOfTreesToTheirBounds) {
  const auto refused = [](const std::function<void(TreeReport&)>& spoil) {
    Tokens tokens = reported();
    spoil(tokens.trees.front());
    return !check(GenerateMessage(tokens)).has_value();
  };
  EXPECT_FALSE(refused([](TreeReport&) {}));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.own = -2; }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes.clear(); }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes.resize(kTreeNodesMax + 1, tree.nodes.front()); }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes[0].token = -1; }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes[1].parent = 1; })) << "a node is not its own parent";
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes[0].parent = -2; }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes[0].by = 1; }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.nodes[0].chance = std::nanf(""); }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.proposers.resize(kProposersMax + 1); }));
  EXPECT_TRUE(refused([](TreeReport& tree) { tree.proposers[0].model.assign(kProposerBytesMax + 1, 'x'); }));
}

TEST(MessageCheck, WantsAReportOfATreeBesideATokenOfItsRound) {
  const auto taken = [](const Tokens& tokens) { return check(GenerateMessage(tokens)).has_value(); };
  EXPECT_TRUE(taken(reported(6)));
  EXPECT_FALSE(taken(reported(4)));
  EXPECT_FALSE(taken(reported(7)));
  Tokens twice = reported();
  twice.trees.push_back(twice.trees.front());
  EXPECT_FALSE(taken(twice)) << "each round has one";
  Start start = good_start();
  start.spec.trees = kTreeReportsMax + 1;
  EXPECT_FALSE(check(GenerateMessage(start)));
}

TEST(Boundary, IsKnownOfEveryMessage) {
  static_assert(boundary_of<Hello>() == Boundary::control);
  static_assert(boundary_of<Tokens>() == Boundary::generate);
  static_assert(boundary_of<Tree>() == Boundary::draft);
}

}  // namespace
}  // namespace slipstream
