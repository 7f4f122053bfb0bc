// Who drafts for a live request, while drafters come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr Peer kSecond{0x8000000000000004};
const DrafterRef kFirstRef{kDrafter.id, "tcp://d"}, kSecondRef{kSecond.id, "tcp://e"};

class DraftersTest : public RouterTest {
 protected:
  DraftersTest() {
    Hello hello = verifier(kVerifier);
    hello.sequences_max = 8;
    stage.hears(kVerifier, hello);
  }
  void joins(Peer peer, const DrafterRef& ref) { stage.hears(peer, drafter(peer, ref.endpoint)); }
  std::vector<DrafterRef> started(RequestId id) {
    stage.tell(ask(id, 40));
    const Start start = stage.says<Start>().message;
    accept(kVerifier, id, 1);
    return start.drafters;
  }
};

TEST_F(DraftersTest, ALiveRequestHearsOfTheFirstDrafterThatComes) {
  EXPECT_TRUE(started(1).empty());
  joins(kDrafter, kFirstRef);
  const auto assign = stage.says<Assign>();
  EXPECT_EQ(assign.peer, kVerifier);
  EXPECT_EQ(assign.message.sequence, sequence(1));
  EXPECT_EQ(assign.message.epoch, 1);
  EXPECT_EQ(assign.message.version, 1);
  EXPECT_THAT(assign.message.drafters, ElementsAre(kFirstRef));
  EXPECT_EQ(router.counters().assigns, 1);
}

TEST_F(DraftersTest, ALiveRequestWhoseDrafterDiesGetsAnother) {
  joins(kDrafter, kFirstRef);
  EXPECT_THAT(started(1), ElementsAre(kFirstRef));
  joins(kSecond, kSecondRef);
  EXPECT_THAT(stage.says<Assign>().message.drafters, ElementsAre(kFirstRef, kSecondRef)) << "one to fall back on";
  stage.down(kDrafter);
  EXPECT_THAT(stage.says<Assign>().message.drafters, ElementsAre(kSecondRef));
  stage.down(kSecond);
  const Assign none = stage.says<Assign>().message;
  EXPECT_TRUE(none.drafters.empty());
  EXPECT_EQ(none.version, 3);
}

TEST_F(DraftersTest, ANewDrafterTakesOverHalfOfTheRequests) {
  joins(kDrafter, kFirstRef);
  for (RequestId id = 1; id <= 4; ++id) started(id);
  joins(kSecond, kSecondRef);
  int moved = 0;
  for (int request = 1; request <= 4; ++request) moved += stage.says<Assign>().message.drafters.at(0) == kSecondRef;
  EXPECT_EQ(moved, 2);
  EXPECT_TRUE(stage.silent<Assign>());
}

TEST_F(DraftersTest, NewRequestsGoToTheDrafterThatHasFewest) {
  joins(kDrafter, kFirstRef);
  joins(kSecond, kSecondRef);
  EXPECT_EQ(started(1)[0], kFirstRef);
  EXPECT_EQ(started(2)[0], kSecondRef);
  EXPECT_EQ(started(3)[0], kFirstRef);
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  tokens(kVerifier, 3, 1, 0, {2}, Finish::stop);
  EXPECT_EQ(started(4)[0], kFirstRef) << "those that ended do not count";
}

TEST_F(DraftersTest, ARepeatedStartNamesTheDraftersOfNow) {
  joins(kDrafter, kFirstRef);
  stage.tell(ask(1));
  joins(kSecond, kSecondRef);
  stage.down(kDrafter);
  stage.forget();
  lives(milliseconds(1100), {kVerifier, kSecond});
  EXPECT_THAT(stage.says<Start>().message.drafters, ElementsAre(kSecondRef));
  EXPECT_THAT(stage.says<Assign>().message.drafters, ElementsAre(kSecondRef)) << "the one before may have been lost";
}

TEST_F(DraftersTest, AnAssignIsSaidAgainEachSecondAsItMayBeLost) {
  started(1);
  joins(kDrafter, kFirstRef);
  stage.forget();
  int said = 0;
  for (int i = 0; i < 3; ++i) {
    lives(milliseconds(1000), {kVerifier, kDrafter});
    tokens(kVerifier, 1, 1, i, {20});  // it is not quiet at all
    for (; !stage.silent<Assign>(); ++said) EXPECT_EQ(stage.says<Assign>().message.version, 1);
  }
  EXPECT_GE(said, 2);
  EXPECT_LE(said, 3);
  EXPECT_EQ(router.counters().assigns, 1);
}

TEST_F(DraftersTest, WhoAskedForPlainDecodingIsLeftAlone) {
  Submit plain = ask(1, 40);
  plain.speculate = false;
  stage.tell(plain);
  joins(kDrafter, kFirstRef);
  EXPECT_TRUE(stage.silent<Assign>());
}

TEST_F(DraftersTest, ADrawnRuleRunsWithTrustedDraftersAndElseTheTargetsChoiceDecides) {
  joins(kDrafter, kFirstRef);
  Submit drawn = ask(1, 40);
  drawn.sampling.temperature = 1;
  drawn.acceptance = {.rule = Rule::ratio};
  stage.tell(drawn);
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.acceptance.rule, Rule::coupled) << "nobody is trusted";
  EXPECT_THAT(start.drafters, ElementsAre(kFirstRef)) << "who cannot bend it";
}

TEST_F(DraftersTest, ARequestMayNameItsDraftersMethodAndItsLimits) {
  joins(kDrafter, kFirstRef);
  Submit picky = ask(1, 40);
  picky.drafter = "no such method";
  picky.nodes_max = 3;
  stage.tell(picky);
  const Start start = stage.says<Start>().message;
  EXPECT_TRUE(start.drafters.empty());
  EXPECT_EQ(start.tuning.nodes_max, 3);
}

class TrustTest : public RouterTest {
 protected:
  TrustTest() : RouterTest(trusting()) { stage.hears(kVerifier, verifier(kVerifier)); }
  static RouterConfig trusting() {
    RouterConfig trusts = config();
    trusts.trust_local = true;
    return trusts;
  }
};

TEST_F(TrustTest, ADrawnRuleRunsWhereLocalDraftersAreTrusted) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  Submit drawn = ask(1, 40);
  drawn.sampling.temperature = 1;
  drawn.acceptance = {.rule = Rule::ratio, .root_children = 2, .children = 2};
  stage.tell(drawn);
  EXPECT_EQ(stage.says<Start>().message.acceptance, drawn.acceptance);
}

TEST_F(TrustTest, AtTemperatureZeroEveryRuleIsGreedy) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  Submit drawn = ask(1, 40);
  drawn.sampling.temperature = 0;
  drawn.acceptance = {.rule = Rule::ratio};
  stage.tell(drawn);
  EXPECT_EQ(stage.says<Start>().message.acceptance.rule, Rule::greedy);
}

}  // namespace
}  // namespace slipstream
