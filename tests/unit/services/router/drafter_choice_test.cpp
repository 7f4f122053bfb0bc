// Who drafts for a live request, while drafters come and go.
#include <algorithm>
#include <cmath>
#include <limits>

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
  DraftersTest() : RouterTest(roomy()) {
    Hello hello = verifier(kVerifier);
    hello.sequences_max = 8;
    hello.context_max = 1000;
    stage.hears(kVerifier, hello);
  }
  static RouterConfig roomy() {
    RouterConfig roomy = config();
    roomy.context_max = 1000;
    return roomy;
  }
  void joins(Peer peer, const DrafterRef& ref) { stage.hears(peer, drafter(peer, ref.endpoint)); }
  std::vector<DrafterRef> started(RequestId id) {
    stage.tell(ask(id, 40));
    const Start start = stage.says<Start>().message;
    accept(kVerifier, id, 1);
    return start.drafters;
  }
};

// Subjects that share this stage.
using DrafterArrival = DraftersTest;
using DrafterLoss = DraftersTest;

TEST_F(DrafterArrival, ALiveRequestHearsOfTheFirstDrafter) {
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

// A draft model has other weights than the target: only the tokens must be the same.
TEST_F(DraftersTest, ADrafterWithItsOwnModelIsNamedWithIt) {
  Hello hello = drafter(kDrafter, kFirstRef.endpoint);
  hello.methods = {"small-lm"};
  hello.draft_model = "tiny";
  hello.fingerprint.weights = 0xbeef;
  stage.hears(kDrafter, hello);
  EXPECT_THAT(started(1), ElementsAre(kFirstRef));
  const auto& workers = *router.counters().workers;
  const auto named = std::ranges::find(workers, Role::drafter, &WorkerFacts::role);
  ASSERT_NE(named, workers.end());
  EXPECT_EQ(named->what, "small-lm with tiny, weights 000000000000beef");
}

TEST_F(DrafterLoss, ALiveRequestGetsAnotherDrafter) {
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

TEST_F(DrafterArrival, ANewDrafterTakesOverHalfOfTheRequests) {
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

class WorthOfDrafters : public DraftersTest {
 protected:
  WorthOfDrafters() {
    joins(kDrafter, kFirstRef);
    joins(kSecond, kSecondRef);
  }
  // What this verifier has seen them win.
  void gains(Peer verifier, float first, float second, bool greedy = false) {
    stage.hears(verifier, WorkerHeartbeat{.drafter_gains = {{kFirstRef.incarnation, greedy, first},
                                                            {kSecondRef.incarnation, greedy, second}}});
  }
  // How many of these requests the second drafter gets.
  int second_gets(int requests) {
    int gets = 0;
    for (int request = 0; request < requests; ++request) gets += started(++newest_)[0] == kSecondRef ? 1 : 0;
    return gets;
  }

 private:
  RequestId newest_ = 100;
};

TEST_F(WorthOfDrafters, TheOneThatWinsMoreGetsMoreRequests) {
  gains(kVerifier, 0.5F, 1.5F);
  EXPECT_EQ(second_gets(4), 3) << "as many as its share of what both win";
}

TEST_F(WorthOfDrafters, AUselessOneIsTheLastInLine) {
  gains(kVerifier, -0.2F, 0.8F);
  EXPECT_EQ(second_gets(6), 6);
  stage.down(kSecond);
  EXPECT_EQ(started(1)[0], kFirstRef) << "still better than none, it may have become good";
}

TEST_F(WorthOfDrafters, OfGreedyRequestsSaysNothingOfSampledOnes) {
  gains(kVerifier, -0.2F, 0.8F, true);
  EXPECT_EQ(second_gets(4), 2);
}

TEST_F(WorthOfDrafters, IsTheMeanOfWhatVerifiersReport) {
  const Peer other{kVerifier.id + 1000};
  stage.hears(other, verifier(other));
  gains(kVerifier, 1, 1);
  gains(other, 1, 0);
  const auto gain_of = [&](const DrafterRef& ref) {
    const auto& workers = *router.counters().workers;
    return std::ranges::find(workers, ref.incarnation, &WorkerFacts::incarnation)->coupled_gain.value();
  };
  EXPECT_DOUBLE_EQ(gain_of(kFirstRef), 1);
  EXPECT_DOUBLE_EQ(gain_of(kSecondRef), 0.5);
  stage.down(other);
  gains(kVerifier, 1, 1);
  EXPECT_DOUBLE_EQ(gain_of(kSecondRef), 1);
}

TEST_F(WorthOfDrafters, NothingIsLeftOfAWrongReportThatIsTakenBack) {
  const Peer liar{kVerifier.id + 1000};
  stage.hears(liar, verifier(liar));
  gains(kVerifier, 0.5F, 1.5F);
  const auto gain_of_second = [&] {
    const auto& workers = *router.counters().workers;
    return std::ranges::find(workers, kSecondRef.incarnation, &WorkerFacts::incarnation)->coupled_gain.value();
  };
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e38F, -1e38F}) {
    gains(liar, wrong, wrong);
    EXPECT_LE(std::abs(gain_of_second()), kTreeNodesMax) << "no drafter wins more than its tree has";
    gains(liar, 1.5F, 1.5F);
    EXPECT_DOUBLE_EQ(gain_of_second(), 1.5) << wrong;
  }
}

TEST_F(WorthOfDrafters, AnotherTurnGoesToTheDrafterThatHoldsThePrompt) {
  const auto long_prompt = [&](RequestId id) {
    Submit submit = ask(id, 40);
    submit.prompt.assign(200, 3);
    stage.tell(submit);
    const Start start = stage.says<Start>().message;
    accept(kVerifier, id, 1);
    tokens(kVerifier, id, 1, 0, {2}, Finish::stop);
    return start.drafters.at(0);
  };
  gains(kVerifier, 1, 1.1F);
  EXPECT_EQ(long_prompt(1), kSecondRef);
  gains(kVerifier, 1.1F, 1);
  EXPECT_EQ(long_prompt(2), kSecondRef) << "a little better is not worth a prompt";
  gains(kVerifier, 2, 1);
  EXPECT_EQ(long_prompt(3), kFirstRef);
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

TEST_F(DraftersTest, ARequestForPlainDecodingGetsNoDrafter) {
  Submit plain = ask(1, 40);
  plain.speculation.enabled = false;
  stage.tell(plain);
  joins(kDrafter, kFirstRef);
  EXPECT_TRUE(stage.silent<Assign>());
}

TEST_F(DraftersTest, ASampledRuleRunsWithTrustedDraftersAndElseTheTargetsChoiceDecides) {
  joins(kDrafter, kFirstRef);
  Submit sampled = ask(1, 40);
  sampled.spec.sampling.temperature = 1;
  sampled.speculation.acceptance = {.rule = Rule::ratio};
  stage.tell(sampled);
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.spec.acceptance.rule, Rule::coupled) << "nobody is trusted";
  EXPECT_THAT(start.drafters, ElementsAre(kFirstRef)) << "who cannot bend it";
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().rule.reason, RuleReason::no_trusted_drafter);
}

TEST_F(DraftersTest, ASampledRuleRunsWithoutDraftersWhereAllVerifiersSampleThemselves) {
  Hello samples = verifier(kVerifier);
  samples.samples_trees = true;
  stage.hears(kVerifier, samples);
  const auto ran = [&](RequestId id, const std::string& drafter) {
    Submit sampled = ask(id, 40);
    sampled.spec.sampling.temperature = 1;
    sampled.speculation.acceptance = {.rule = Rule::ratio};
    sampled.speculation.drafter = drafter;
    stage.tell(sampled);
    return stage.says<Start>().message.spec.acceptance.rule;
  };
  EXPECT_EQ(ran(1, ""), Rule::ratio);
  EXPECT_EQ(ran(2, "small-lm"), Rule::ratio) << "whoever it names";
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().rule.reason, RuleReason::as_asked);
  stage.hears(kSpare, verifier(kSpare));  // it has no head
  EXPECT_EQ(ran(3, ""), Rule::coupled);
}

TEST_F(DraftersTest, ARequestMayNameItsDraftersMethodAndItsLimits) {
  joins(kDrafter, kFirstRef);
  Submit picky = ask(1, 40);
  picky.speculation.drafter = "small-lm";
  picky.speculation.nodes_max = 3;
  picky.speculation.depth_max = 2;
  stage.tell(picky);
  const Start start = stage.says<Start>().message;
  EXPECT_TRUE(start.drafters.empty());
  EXPECT_EQ(start.draft_nodes_max, 3);
  EXPECT_EQ(start.draft_depth_max, 2);
}

TEST_F(DraftersTest, ARequestsLimitsAreNoTuningOfItsDrafters) {
  joins(kDrafter, kFirstRef);
  Submit modest = ask(1, 40);
  modest.speculation.nodes_max = 3;
  stage.tell(modest);
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.draft_nodes_max, 3);
  EXPECT_THAT(start.drafters, ElementsAre(kFirstRef)) << "with the router's own tuning";
}

TEST_F(DraftersTest, TheRoutersOwnLimitsBindARequestThatAsksForMore) {
  stage.tell(ask(1, 40));
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.draft_nodes_max, config().tuning.nodes_max);
  EXPECT_EQ(start.draft_depth_max, config().tuning.depth_max);
}

TEST_F(DraftersTest, ARequestWithoutSpeculationAllowsNoNodes) {
  Submit plain = ask(1, 40);
  plain.speculation.enabled = false;
  stage.tell(plain);
  EXPECT_EQ(stage.says<Start>().message.draft_nodes_max, 0);
}

TEST_F(DraftersTest, AMethodThatNoDrafterEverHadIsRefusedAndOneThatIsGoneIsNot) {
  Hello hello = drafter(kDrafter, "tcp://d");
  hello.methods = {"crystal"};
  Submit picky = ask(1, 40);
  picky.speculation.drafter = "crystal";
  stage.tell(picky);
  const Failure refused = stage.does<Failure>();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.param, "speculation.drafter");
  EXPECT_THAT(refused.message, testing::HasSubstr("Choose one of draft-head, ngram, small-lm"));
  EXPECT_EQ(router.counters().refused, 1U);
  stage.hears(kDrafter, hello);
  picky.request = 2;
  stage.tell(picky);
  EXPECT_THAT(stage.says<Start>().message.drafters, ElementsAre(kFirstRef));
  stage.down(kDrafter);
  picky.request = 3;
  stage.tell(picky);
  EXPECT_TRUE(stage.says<Start>().message.drafters.empty()) << "it goes on plainly";
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

TEST_F(TrustTest, ASampledRuleRunsWhereLocalDraftersAreTrusted) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  Submit sampled = ask(1, 40);
  sampled.spec.sampling.temperature = 1;
  sampled.speculation.acceptance = {.rule = Rule::ratio, .root_children = 2, .children = 2};
  stage.tell(sampled);
  EXPECT_EQ(stage.says<Start>().message.spec.acceptance, sampled.speculation.acceptance);
}

TEST_F(TrustTest, EachAnswerSaysWhyAnotherRuleRanAndEachStartIsCounted) {
  const auto reason = [&](RequestId id, float temperature, const std::string& method) {
    Submit sampled = ask(id, 40);
    sampled.spec.sampling.temperature = temperature;
    sampled.speculation.acceptance = {.rule = Rule::ratio};
    sampled.speculation.drafter = method;
    stage.tell(sampled);
    tokens(kVerifier, id, 1, 0, {2}, Finish::stop);
    return stage.does<Delivery>().rule.reason;
  };
  EXPECT_EQ(reason(1, 1, ""), RuleReason::no_drafter);
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  EXPECT_EQ(reason(2, 1, "small-lm"), RuleReason::no_drafter_of_that_method);
  EXPECT_EQ(reason(3, 0, ""), RuleReason::temperature_zero);
  EXPECT_EQ(reason(4, 1, ""), RuleReason::as_asked);
  const RuleCounts& rules = router.counters().rules;
  EXPECT_THAT(rules.asked[1], ElementsAre(1, 1, 1, 1, 0)) << "all of them asked for ratio";
  Submit plain = ask(5, 40);
  plain.speculation.enabled = false;
  stage.tell(plain);
  EXPECT_EQ(router.counters().rules.plain, 1U);
}

TEST_F(TrustTest, ACoupledAnswerSaysThatNobodyHasTheMethodThatItNames) {
  const auto reason = [&](RequestId id, float temperature, const std::string& method) {
    Submit named = ask(id, 40);
    named.spec.sampling.temperature = temperature;
    named.speculation.drafter = method;
    stage.tell(named);
    tokens(kVerifier, id, 1, 0, {2}, Finish::stop);
    return stage.does<Delivery>().rule.reason;
  };
  EXPECT_EQ(reason(1, 1, ""), RuleReason::as_asked) << "nobody is named, nobody is missed";
  EXPECT_EQ(reason(2, 1, "small-lm"), RuleReason::no_drafter);
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  EXPECT_EQ(reason(3, 1, "small-lm"), RuleReason::no_drafter_of_that_method);
  EXPECT_EQ(reason(4, 0, "small-lm"), RuleReason::no_drafter_of_that_method);
  EXPECT_EQ(reason(5, 0, ""), RuleReason::temperature_zero);
  EXPECT_THAT(router.counters().rules.asked[0], ElementsAre(1, 2, 1, 1, 0)) << "at temperature 0 it was greedy, whoever drafts";
}

TEST_F(TrustTest, AtTemperatureZeroEveryRuleIsGreedy) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  Submit sampled = ask(1, 40);
  sampled.spec.sampling.temperature = 0;
  sampled.speculation.acceptance = {.rule = Rule::ratio};
  stage.tell(sampled);
  EXPECT_EQ(stage.says<Start>().message.spec.acceptance.rule, Rule::greedy);
}

}  // namespace
}  // namespace slipstream
