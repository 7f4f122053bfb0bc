#include "services/verifier/verifier.h"

#include <gmock/gmock.h>

#include "services/verifier/send_window.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using VerifierTest = VerifierStage;
// Subjects that share this stage.
using PlainDecoding = VerifierTest;
using LateTree = VerifierTest;
using StaleTree = VerifierTest;
using InvalidTree = VerifierTest;
using TokenDelivery = VerifierTest;
using VerifierDraining = VerifierTest;
using SequenceLease = VerifierTest;
using NonFiniteLogits = VerifierTest;
using StepResult = VerifierTest;

TEST_F(VerifierTest, SaysHelloAndHeartbeats) {
  EXPECT_EQ(stage.says<Hello>().message.incarnation, 5U);
  EXPECT_EQ(stage.says<WorkerHeartbeat>().peer, kRouter);
}

TEST_F(VerifierTest, AnswersARepeatedStartOnceMoreAndStartsOnce) {
  stage.hears(kRouter, start());
  stage.hears(kRouter, start());
  stage.says<Accepted>();
  stage.says<Accepted>();
  EXPECT_EQ(verifier.counters().sequences_started, 1U);
}

TEST_F(PlainDecoding, NeedsNoDrafter) {
  stage.hears(kRouter, start());
  EXPECT_EQ(runs().token, (std::vector<int32_t>{10, 11, 12}));  // two rows of prompt, then the root
  EXPECT_EQ(plan->wanted, std::vector<int32_t>{2});
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.ids, std::vector<TokenId>{13});
  EXPECT_EQ(runs().token, std::vector<int32_t>{13});
  sample_token();
  const Tokens tokens = stage.says<Tokens>().message;
  EXPECT_EQ(tokens.first_index, 1);
  EXPECT_EQ(tokens.ids, std::vector<TokenId>{14});
}

TEST_F(VerifierTest, EmitsTheAcceptedPathAndOneMore) {
  meet_drafter();
  stage.hears(kRouter, second());
  const auto advance = stage.says<Advance>();
  EXPECT_TRUE(advance.message.info.has_value());
  EXPECT_TRUE(stage.rests());  // a tree is due
  stage.hears(kDrafter, tree({{13, kRoot, .9F}, {50, 0, .7F}, {60, 1, .6F}}, advance));
  EXPECT_EQ(runs().rows(), 3 + 3);
  sample_token();
  const Tokens tokens = stage.says<Tokens>().message;
  EXPECT_EQ(tokens.ids, (std::vector<TokenId>{13, 14}));
  EXPECT_EQ(tokens.drafted, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(tokens.depths, (std::vector<uint8_t>{3, 3}));
  EXPECT_EQ(verifier.counters().fates.of(Fate::accepted), 1U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::rejected), 1U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::unreached), 1U);
  const Advance next = stage.says<Advance>().message;
  EXPECT_EQ(next.fence.base_length, 3);
  EXPECT_EQ(next.fence.prefix_hash, hash_of({10, 11, 12}));
  EXPECT_EQ(next.tokens, (std::vector<TokenId>{13, 14}));
  EXPECT_FALSE(next.info.has_value());
}

TEST_F(LateTree, LeavesItsRoundPlain) {
  meet_drafter();
  stage.hears(kRouter, second());
  const auto advance = stage.says<Advance>();
  stage.waits(2900us);
  EXPECT_TRUE(stage.rests());
  stage.waits(200us);
  EXPECT_EQ(runs().rows(), 3);
  stage.hears(kDrafter, tree({{13, kRoot, .9F}, {14, 0, .8F}}, advance));
  EXPECT_EQ(verifier.counters().fates.of(Fate::late), 2U);
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.ids, std::vector<TokenId>{13});
  EXPECT_EQ(verifier.counters().missed_deadlines(), 1U);
}

TEST_F(StaleTree, OfAnotherPrefixIsDroppedAndCounted) {
  meet_drafter();
  stage.hears(kRouter, second());
  Tree wrong = tree({{13, kRoot, .9F}}, stage.says<Advance>());
  wrong.fence.prefix_hash ^= 1;
  stage.hears(kDrafter, wrong);
  EXPECT_EQ(verifier.counters().fates.of(Fate::stale), 1U);
  EXPECT_TRUE(stage.rests());
}

TEST_F(InvalidTree, CutsItsDrafterAtTheThird) {
  meet_drafter();
  stage.hears(kRouter, second());
  const Tree hostile = tree({{13, 5, .9F}}, stage.says<Advance>());  // a parent that comes later
  for (int i = 0; i < kStrikesMax; ++i) stage.hears(kDrafter, hostile);
  EXPECT_EQ(verifier.counters().fates.of(Fate::invalid), 3U);
  EXPECT_EQ(stage.does<Disconnect>().peer, kDrafter);
  stage.waits(3ms);
  EXPECT_EQ(runs().rows(), 3);
}

TEST_F(VerifierTest, StopsAtAStopTokenInsideTheAcceptedPath) {
  meet_drafter();
  Start start = second();
  start.tokens = {5, 6, 7};
  stage.hears(kRouter, start);
  stage.hears(kDrafter, tree({{8, kRoot, .9F}, {9, 0, .8F}, {10, 1, .7F}}, stage.says<Advance>()));
  runs();
  sample_token();
  const Tokens tokens = stage.says<Tokens>().message;
  EXPECT_EQ(tokens.ids, (std::vector<TokenId>{8, 9}));
  EXPECT_EQ(tokens.finish, Finish::stop);
  EXPECT_EQ(verifier.counters().fates.of(Fate::unreached), 1U);
  EXPECT_EQ(stage.says<Release>().message.sequence.counter, 2U);
}

TEST_F(TokenDelivery, KeepsTheFinishUntilItIsAcked) {
  Start start = this->start();
  start.spec.output_max = 1;
  stage.hears(kRouter, start);
  runs();
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.finish, Finish::length);
  stage.waits(250ms);
  EXPECT_EQ(stage.says<Tokens>().message.ids, std::vector<TokenId>{13});  // again
  stage.hears(kRouter, Ack{start.sequence, 1, 1, true});
  stage.forget();
  stage.waits(250ms);
  EXPECT_TRUE(stage.silent<Tokens>());
  EXPECT_EQ(verifier.counters().live, 0U);
}

TEST_F(TokenDelivery, ARouterThatIsBehindGetsTheRestInOneMessage) {
  stage.hears(kRouter, start());
  for (int step = 0; step < kTokensInFlight + 5; ++step) {
    runs();
    sample_token();
  }
  for (int32_t i = 0; i < kTokensInFlight; ++i) EXPECT_EQ(stage.says<Tokens>().message.first_index, i);
  EXPECT_TRUE(stage.silent<Tokens>()) << "a message a step fills the socket of a router that reads more slowly";
  stage.hears(kRouter, Ack{{3, 1}, 1, 1});
  const Tokens rest = stage.says<Tokens>().message;
  EXPECT_EQ(rest.first_index, kTokensInFlight);
  EXPECT_EQ(rest.ids.size(), 5U);
}

TEST_F(TokenDelivery, SendsUnackedTokensAgainAtGrowingGapsUntilTheLeaseEnds) {
  Start start = this->start();
  start.spec.output_max = 1;
  start.lease_ms = 10'000;
  stage.hears(kRouter, start);
  runs();
  sample_token();
  std::vector<int> when;  // after 100 ms units
  stage.says<Tokens>();
  for (int i = 1; i < 120; ++i) {
    stage.waits(100ms);
    for (; !stage.silent<Tokens>(); stage.says<Tokens>()) when.push_back(i);
  }
  EXPECT_EQ(when, (std::vector<int>{2, 6, 14, 22, 30, 38, 46, 54, 62, 70, 78, 86, 94}));
  EXPECT_EQ(verifier.counters().live, 0U);
}

TEST_F(TokenDelivery, TellsARouterThatAcksASequenceWhichIsNotHere) {
  Start start = this->start();
  start.spec.output_max = 1;
  start.lease_ms = 500;
  stage.hears(kRouter, start);
  runs();
  sample_token();
  stage.says<Tokens>();
  stage.waits(600ms);
  EXPECT_EQ(verifier.counters().live, 0U);
  stage.forget();
  stage.hears(kRouter, Ack{start.sequence, start.epoch, 1, false});
  const Tokens gone = stage.says<Tokens>().message;
  EXPECT_EQ(gone.first_index, 1);
  EXPECT_EQ(gone.finish, Finish::cancelled);
  EXPECT_TRUE(gone.ids.empty());
  stage.hears(kRouter, Ack{start.sequence, start.epoch, 1, true});
  EXPECT_TRUE(stage.silent<Tokens>()) << "a finish that is acked twice";
}

TEST_F(VerifierTest, CountsAStepWhenItHasEnded) {
  stage.hears(kRouter, start());
  runs();
  EXPECT_EQ(verifier.counters().steps, 0U) << "routers hold a verifier for stuck that ends none";
  sample_token();
  EXPECT_EQ(verifier.counters().steps, 1U);
}

TEST_F(VerifierDraining, BeginsWhenToldToStop) {
  EXPECT_FALSE(verifier.counters().worker.draining);
  stage.hears(Peer{0}, Drain{"told to stop"});
  EXPECT_TRUE(verifier.counters().worker.draining);
}

TEST_F(SequenceLease, FreesASequenceWhenNobodyRenewsIt) {
  stage.hears(kRouter, start());
  runs();
  sample_token();
  runs();
  stage.waits(600ms);
  stage.hears(kRouter, RouterHeartbeat{.router = 3});
  stage.waits(600ms);
  sample_token();
  EXPECT_EQ(verifier.counters().live, 1U);
  runs();
  stage.waits(1100ms);
  sample_token();
  EXPECT_EQ(verifier.counters().live, 0U);
  EXPECT_EQ(verifier.counters().blocks_free, 64U);
}

class VerifierWithTwoRouters : public VerifierStage {
 protected:
  static VerifierConfig two_routers() {
    VerifierConfig two = config();
    two.process.routers = {"tcp://router", "tcp://other"};
    return two;
  }
  VerifierWithTwoRouters() : VerifierStage(two_routers()) { stage.up(kOtherRouter); }
  static constexpr Peer kOtherRouter{2};
};

TEST_F(VerifierWithTwoRouters, CountsASecondLinkToOneRouter) {
  stage.hears(kOtherRouter, Welcome{.router = 3, .heartbeat_ms = 100000});
  EXPECT_EQ(stage.does<Disconnect>().peer, kOtherRouter);
  EXPECT_EQ(verifier.counters().worker.duplicate_routers, 1U);
}

TEST_F(VerifierWithTwoRouters, LeaseIsNotRenewedByAnotherLink) {
  stage.hears(kRouter, start());
  runs();
  for (int i = 0; i < 11; ++i) {
    stage.waits(100ms);
    stage.hears(kOtherRouter, RouterHeartbeat{.router = 3});
  }
  sample_token();
  EXPECT_EQ(verifier.counters().live, 0U);
}

TEST_F(NonFiniteLogits, FailTheirSequenceOnly) {
  stage.hears(kRouter, start());
  Start other = start();
  other.sequence.counter = 2;
  runs();
  stage.hears(kRouter, other);
  stage.finishes(StepOutput{.sampled_tokens = {-1}});
  EXPECT_EQ(stage.says<Tokens>().message.finish, Finish::error);
  runs();
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.ids, std::vector<TokenId>{13});
}

TEST_F(VerifierTest, AnswersAResyncWithEverythingTheDrafterLacks) {
  meet_drafter();
  stage.hears(kRouter, second());
  const Advance first = stage.says<Advance>().message;
  stage.hears(kDrafter, Resync{first.fence.sequence, 1, first.fence.round, 0});
  const Advance again = stage.says<Advance>().message;
  EXPECT_EQ(again.fence.base_length, 0);
  EXPECT_EQ(again.tokens, (std::vector<TokenId>{10, 11, 12}));
  EXPECT_TRUE(again.info.has_value());
  stage.hears(kDrafter, Resync{first.fence.sequence, 1, first.fence.round, 0});
  EXPECT_TRUE(stage.silent<Advance>());  // once a round
}

TEST_F(VerifierTest, AnswersAResyncFromWhereTheDrafterIs) {
  meet_drafter();
  stage.hears(kRouter, second());
  const auto first = stage.says<Advance>();
  stage.hears(kDrafter, Resync{second().sequence, 1, first.message.fence.round, 2});
  const auto rest = stage.says<Advance>();
  EXPECT_EQ(rest.message.fence.base_length, 2);
  EXPECT_EQ(rest.message.fence.prefix_hash, hash_of({10, 11}));
  EXPECT_THAT(rest.message.tokens, testing::ElementsAre(12));
}

TEST_F(VerifierDraining, IsToldToARouterThatWelcomesTheVerifierAgain) {
  stage.tell(From<Drain>{Peer{}, {"told to stop"}});
  EXPECT_EQ(stage.says<Leaving>().peer, kRouter);
  stage.hears(kRouter, Welcome{.router = 4, .heartbeat_ms = 100000});
  EXPECT_EQ(stage.says<Leaving>().peer, kRouter);
}

TEST_F(VerifierDraining, IsToldWithEachHeartbeat) {
  stage.tell(From<Drain>{Peer{}, {"told to stop"}});
  stage.forget();  // and lost
  stage.waits(100s);
  EXPECT_EQ(stage.says<WorkerHeartbeat>().peer, kRouter);
  EXPECT_EQ(stage.says<Leaving>().message.reason, "told to stop");
}

TEST_F(VerifierTest, TakesAnAssignThatIsSaidAgainForTheSame) {
  stage.hears(kRouter, start());
  const Assign assign{.sequence = start().sequence, .epoch = 1, .version = 2, .drafters = {{77, "tcp://drafter"}}};
  stage.hears(kRouter, assign);
  stage.hears(kRouter, assign);
  EXPECT_EQ(verifier.counters().fenced, 0U);
  Assign older = assign;
  older.version = 1;
  stage.hears(kRouter, older);
  EXPECT_EQ(verifier.counters().fenced, 1U);
}

TEST_F(VerifierTest, ListensToNoOtherRouterAboutASequence) {
  VerifierConfig two = config();
  two.process.routers.push_back("tcp://other");
  Verifier verifier(two);
  Stage<Verifier> stage(verifier);
  constexpr Peer kOtherRouter{2};
  for (Peer router : {kRouter, kOtherRouter}) {
    stage.up(router);
    stage.hears(router, Welcome{.router = router.id, .heartbeat_ms = 100000});
  }
  stage.hears(kRouter, start());
  stage.hears(kOtherRouter, Cancel{start().sequence, 1});
  stage.hears(kOtherRouter, Assign{.sequence = start().sequence, .epoch = 1, .version = 9});
  Start theft = start();
  theft.epoch = 2;
  stage.hears(kOtherRouter, theft);
  EXPECT_EQ(verifier.counters().live, 1U);
  EXPECT_EQ(verifier.counters().sequences_replaced, 0U);
}

TEST_F(TokenDelivery, SendsTheErrorAgainWhenOnlyTheTokensBeforeItAreAcked) {
  const Start start = this->start();
  stage.hears(kRouter, start);
  runs();
  sample_token();
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {-1}});
  stage.forget();
  stage.hears(kRouter, Ack{start.sequence, 1, 1});  // of the first token; the error is lost
  stage.waits(250ms);
  EXPECT_EQ(stage.says<Tokens>().message.finish, Finish::error);
  stage.hears(kRouter, Ack{start.sequence, 1, 1, true});
  EXPECT_EQ(verifier.counters().live, 0U);
}

TEST_F(VerifierTest, FreesTheCacheOfASequenceWhoseStepFailed) {
  VerifierConfig tight = config();
  tight.cache_blocks = 6;
  Verifier small(tight);
  Stage<Verifier> stage(small);
  stage.up(kRouter);
  Start first = start();
  first.tokens.assign(100, 10);
  first.spec.prompt_length = 100;
  Start next = first;
  next.sequence.counter = 2;
  stage.hears(kRouter, first);
  stage.runs();
  stage.hears(kRouter, next);
  stage.finishes(slipstream::fail("the device is lost"));
  EXPECT_EQ(stage.says<Tokens>().message.reason, "the device is lost");
  EXPECT_EQ(stage.runs().step.rows(), 100);
}

// A Cancel and the same Start again while a step runs: its result belongs to the life that has
// ended.
TEST_F(StepResult, GoesToTheLifeThatItWasComputedFor) {
  Start start = this->start();
  start.tokens.assign(600, 10);
  start.spec.prompt_length = 600;
  start.spec.output_max = 20;
  stage.hears(kRouter, start);
  const size_t chunk = runs().token.size();
  stage.hears(kRouter, Cancel{start.sequence, 1});
  stage.hears(kRouter, start);
  stage.finishes(StepOutput{});
  EXPECT_EQ(runs().position.front(), 0);
  EXPECT_EQ(plan->token.size(), chunk);
}

}  // namespace
}  // namespace slipstream
