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
};

TEST_F(ParkedTree, WaitsUntilTheCommitReachesItsBase) {
  reaches_the_base(15);
  EXPECT_EQ(runs().token, (std::vector<int32_t>{15, 16}));
  EXPECT_TRUE(stage.silent<Advance>());
}

TEST_F(ParkedTree, OfAnotherPrefixIsStaleWhenTheCommitReachesItsBase) {
  reaches_the_base(99);
  EXPECT_EQ(verifier.counters().fates.of(Fate::stale), 1U);
  EXPECT_EQ(verifier.counters().parked_used, 0U);
}

}  // namespace
}  // namespace slipstream
