// Trees whose base the sequence has not reached yet: a drafter that runs ahead sends them.
#include "services/verifier/verifier.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

class ParkedTree : public VerifierStage {
 protected:
  // The target says 13 14 15 in the first step. A tree for what follows them was there before; its
  // drafter expected `expected` as the last token.
  void reaches_the_base(TokenId expected) {
    meet_drafter();
    stage.hears(kRouter, second());
    const auto advance = stage.says<Advance>();
    Tree ahead = tree({{16, kRoot, .9F}}, advance);
    ahead.fence.base_length += 3;
    ahead.fence.prefix_hash = hash_of({10, 11, 12, 13, 14, expected});
    stage.hears(kDrafter, ahead);
    stage.hears(kDrafter, tree({{13, kRoot, .9F}, {14, 0, .8F}}, advance));
    runs();
    sample_token();
  }
  // A chain of five nodes comes for a base that is so many tokens ahead.
  void comes_ahead(Start start, int32_t tokens) {
    meet_drafter();
    stage.hears(kRouter, start);
    Tree chain = tree({{20, kRoot, .9F}, {21, 0, .9F}, {22, 1, .9F}, {23, 2, .9F}, {24, 3, .9F}}, stage.says<Advance>());
    chain.fence.base_length += tokens;
    stage.hears(kDrafter, chain);
    EXPECT_EQ(verifier.counters().parked(), 1U);
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }
};

TEST_F(ParkedTree, WaitsUntilTheCommitReachesItsBase) {
  reaches_the_base(15);
  EXPECT_EQ(runs().token, (std::vector<int32_t>{15, 16}));
  EXPECT_TRUE(stage.silent<Advance>());
}

TEST_F(ParkedTree, OfAnotherPrefixIsStaleWhenTheCommitReachesItsBase) {
  reaches_the_base(99);
  EXPECT_EQ(verifier.counters().fates.of(Fate::stale), 1U);
  EXPECT_EQ(verifier.counters().parked_used(), 0U);
}

TEST_F(ParkedTree, IsCutToTheRequestsDepthWhenItComes) {
  Start start = second();
  start.draft_depth_max = 2;
  comes_ahead(start, 1);
  EXPECT_EQ(of(Fate::held), 2U);
  EXPECT_EQ(of(Fate::trimmed), 3U);
}

TEST_F(ParkedTree, IsCutToItsDraftersDepthWhenItComes) {
  Start start = second();
  start.drafters[0].tuning.depth_max = 3;
  comes_ahead(start, 1);
  EXPECT_EQ(of(Fate::held), 3U);
}

TEST_F(ParkedTree, IsNoDeeperThanWhatCanBeEmittedBehindItsBase) {
  comes_ahead(second(), second().spec.output_max - 2);
  EXPECT_EQ(of(Fate::held), 1U) << "one token, and the target's own behind it";
}

TEST_F(ParkedTree, BeyondTheEndOfTheAnswerHoldsNothing) {
  comes_ahead(second(), second().spec.output_max + 5);
  EXPECT_EQ(of(Fate::held), 0U);
  EXPECT_EQ(of(Fate::trimmed), 5U);
}

TEST_F(ParkedTree, IsNoLargerThanWhatIsAskedOfItsDrafter) {
  Start start = second();
  start.drafters[0].tuning.nodes_max = 4;
  comes_ahead(start, 1);
  EXPECT_EQ(of(Fate::held), 4U);
}

}  // namespace
}  // namespace slipstream
