// The actor by hand: what it hears, what it says.
#include "services/router/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/stage/stage.h"

namespace slipstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Peer kVerifier{0x8000000000000001}, kSpare{0x8000000000000002}, kDrafter{0x8000000000000003};
constexpr Incarnation kRouter = 77;
const Fingerprint kTokens{.tokenizer = 0xABC, .vocabulary = 100, .special_ids = {2}};

RouterConfig config() { return {.incarnation = kRouter, .fingerprint = kTokens, .context_max = 64}; }

Hello verifier(Peer peer) {
  Hello hello{.role = Role::verifier, .incarnation = peer.id, .fingerprint = kTokens, .numerics_id = "cpu-test"};
  hello.fingerprint.weights = 0x11;
  hello.context_max = 64;
  hello.sequences_max = 2;
  return hello;
}
Hello drafter(Peer peer, std::string endpoint) {
  return {.role = Role::drafter,
          .incarnation = peer.id,
          .fingerprint = kTokens,
          .methods = {"ngram"},
          .draft_endpoint = std::move(endpoint)};
}
Submit ask(RequestId id, int32_t output_max = 8) {
  return {.request = id, .prompt = {10, 11, 12}, .seed = 5, .output_max = output_max, .stop_ids = {2}};
}

class RouterTest : public testing::Test {
 protected:
  SequenceId sequence(RequestId id) const { return {kRouter, id}; }
  void tokens(Peer peer, RequestId id, Epoch epoch, int32_t first, std::vector<TokenId> ids, Finish finish = Finish::none) {
    const auto count = ids.size();
    stage.hears(peer, Tokens{.sequence = sequence(id),
                             .epoch = epoch,
                             .first_index = first,
                             .ids = std::move(ids),
                             .drafted = std::vector<uint8_t>(count),
                             .finish = finish});
  }
  void accept(Peer peer, RequestId id, Epoch epoch) { stage.hears(peer, Accepted{sequence(id), epoch}); }
  // Time passes while these workers heartbeat.
  void lives(milliseconds duration, std::initializer_list<Peer> workers) {
    for (milliseconds t{0}; t < duration; t += milliseconds(100)) {
      stage.waits(milliseconds(100));
      for (Peer peer : workers) stage.hears(peer, WorkerHeartbeat{.incarnation = peer.id});
    }
  }

  Router router{config()};
  Stage<Router> stage{router};
};

TEST_F(RouterTest, WelcomesAVerifierAndSaysHowOftenToCall) {
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_EQ(stage.says<Welcome>().message, (Welcome{.router = kRouter, .heartbeat_ms = 200}));
  EXPECT_EQ(router.counters().verifiers, 1);
}

TEST_F(RouterTest, RefusesAWorkerOfAnotherTokenizer) {
  Hello hello = verifier(kVerifier);
  hello.fingerprint.tokenizer = 0xDEF;
  stage.hears(kVerifier, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("tokenizer"));
  EXPECT_EQ(router.counters().verifiers, 0);
  EXPECT_EQ(router.counters().workers_refused, 1);
}

TEST_F(RouterTest, RefusesAnotherProtocolVersion) {
  Hello hello = verifier(kVerifier);
  hello.versions = {.oldest = kProtocolVersion + 1, .newest = kProtocolVersion + 2};
  stage.hears(kVerifier, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("protocol version"));
}

TEST_F(RouterTest, RefusesASecondVerifierWithOtherWeights) {
  stage.hears(kVerifier, verifier(kVerifier));
  Hello other = verifier(kSpare);
  other.fingerprint.weights = 0x22;
  stage.hears(kSpare, other);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("other weights"));
}

TEST_F(RouterTest, RefusesADrafterWhoseNeedsNobodyMeetsYet) {
  Hello hello = drafter(kDrafter, "tcp://d");
  hello.needs.features = true;
  stage.hears(kDrafter, hello);
  EXPECT_THAT(stage.says<Refuse>().message.reason, HasSubstr("hidden states"));
}

TEST_F(RouterTest, StartsCarryEverythingAVerifierNeeds) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.sequence, sequence(1));
  EXPECT_EQ(start.epoch, 1);
  EXPECT_EQ(start.prompt_length, 3);
  EXPECT_THAT(start.tokens, ElementsAre(10, 11, 12));
  EXPECT_EQ(start.seed, 5);
  EXPECT_EQ(start.rule, Rule::coupled);
  EXPECT_EQ(start.output_max, 8);
  EXPECT_THAT(start.drafters, ElementsAre(DrafterRef{kDrafter.id, "tcp://d"}));
  EXPECT_GT(start.lease_ms, 0);
}

TEST_F(RouterTest, ChoosesTheGreedyRuleAtTemperatureZero) {
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.sampling.temperature = 0;
  stage.tell(submit);
  EXPECT_EQ(stage.says<Start>().message.rule, Rule::greedy);
}

TEST_F(RouterTest, AsksForPlainDecodingWhenTheRequestDoes) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.speculate = false;
  stage.tell(submit);
  EXPECT_TRUE(stage.says<Start>().message.drafters.empty());
}

TEST_F(RouterTest, FillsAnOpenOutputLimitFromTheContext) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 0));
  EXPECT_EQ(stage.says<Start>().message.output_max, 61);
}

TEST_F(RouterTest, RepeatsAStartUntilItIsAnswered) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  const Start first = stage.says<Start>().message;
  lives(milliseconds(500), {kVerifier});
  EXPECT_EQ(stage.says<Start>().message, first);
  accept(kVerifier, 1, 1);
  stage.forget();
  lives(milliseconds(1000), {kVerifier});
  EXPECT_TRUE(stage.silent<Start>());
}

TEST_F(RouterTest, DeliversEachTokenOnceWhenTokensAreRepeated) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20, 21});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(20, 21));
  EXPECT_EQ(stage.says<Ack>().message.next_index, 2);
  tokens(kVerifier, 1, 1, 0, {20, 21});
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Ack>().message.next_index, 2);  // the first Ack was lost
  tokens(kVerifier, 1, 1, 1, {21, 22});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(22));
  EXPECT_EQ(router.counters().repeated_tokens, 3);
}

TEST_F(RouterTest, AsksForWhatAGapLeftOutAndDeliversInOrder) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 2, {22});
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Ack>().message.next_index, 0);
  tokens(kVerifier, 1, 1, 0, {20, 21, 22});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(20, 21, 22));
}

TEST_F(RouterTest, PacesAcksForNothingNew) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.forget();
  for (int i = 0; i < 10; ++i) tokens(kVerifier, 1, 1, 0, {20});
  stage.says<Ack>();
  EXPECT_TRUE(stage.silent<Ack>());
}

TEST_F(RouterTest, FinishesOnceAndLetsTheVerifierForgetALateCopy) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::stop);
  EXPECT_EQ(router.counters().stopped, 1);
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Cancel>().message, (Cancel{sequence(1), 1}));
}

TEST_F(RouterTest, ReplaysOnAnotherVerifierWithPromptAndEmitted) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  tokens(kVerifier, 1, 1, 0, {20, 21});
  stage.hears(kSpare, verifier(kSpare));
  stage.forget();
  stage.down(kVerifier);
  const To<Start> start = stage.says<Start>();
  EXPECT_EQ(start.peer, kSpare);
  EXPECT_EQ(start.message.epoch, 2);
  EXPECT_EQ(start.message.prompt_length, 3);
  EXPECT_THAT(start.message.tokens, ElementsAre(10, 11, 12, 20, 21));
  EXPECT_EQ(start.message.output_max, 8);
  tokens(kSpare, 1, 2, 2, {22});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(22));
  EXPECT_EQ(router.counters().replays, 1);
}

TEST_F(RouterTest, FencesTokensOfAVerifierThatWakesAfterBeingGivenUp) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  lives(milliseconds(2500), {kSpare});  // kVerifier hangs
  EXPECT_EQ(router.counters().workers_silenced, 1);
  stage.forget();
  tokens(kVerifier, 1, 1, 1, {99});
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Cancel>().message, (Cancel{sequence(1), 1}));
  EXPECT_EQ(router.counters().verifiers, 2);  // it speaks, so it may work again
}

TEST_F(RouterTest, NeverReplaysOnOtherNumerics) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  Hello other = verifier(kSpare);
  other.numerics_id = "gpu-test";
  stage.hears(kSpare, other);
  stage.forget();
  stage.down(kVerifier);
  lives(milliseconds(9900), {kSpare});
  EXPECT_TRUE(stage.silent<Start>());
  lives(milliseconds(200), {kSpare});
  EXPECT_EQ(stage.does<Failure>().code, "no_verifier");
}

TEST_F(RouterTest, MovesAnUnbegunRequestToAnyNumerics) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  Hello other = verifier(kSpare);
  other.numerics_id = "gpu-test";
  stage.hears(kSpare, other);
  stage.forget();
  stage.down(kVerifier);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

TEST_F(RouterTest, FinishesItselfWhenOnlyTheFinishWasLost) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 2));
  tokens(kVerifier, 1, 1, 0, {20, 21});
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::none);
  stage.down(kVerifier);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::length);
}

TEST_F(RouterTest, StartsAgainAtAVerifierThatLostTheSequence) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.forget();
  lives(milliseconds(2500), {kVerifier});
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.epoch, 1);
  EXPECT_THAT(start.tokens, ElementsAre(10, 11, 12, 20));
}

TEST_F(RouterTest, WaitsForAVerifierThenGivesUpWithRetryAfter) {
  stage.tell(ask(1));
  stage.waits(milliseconds(9900));
  EXPECT_TRUE(stage.idle<Failure>());
  stage.waits(milliseconds(200));
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 503);
  EXPECT_EQ(failure.code, "no_verifier");
  EXPECT_GT(failure.retry_after_s, 0);
}

TEST_F(RouterTest, ServesWhatWaitedWhenAVerifierComes) {
  stage.tell(ask(1));
  stage.waits(milliseconds(5000));
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_EQ(stage.says<Start>().message.sequence, sequence(1));
}

TEST_F(RouterTest, AnswersQueueFullAtOnce) {
  for (RequestId id = 1; id <= kRequestsWaitingMax; ++id) stage.tell(ask(id));
  EXPECT_TRUE(stage.idle<Failure>());
  stage.tell(ask(kRequestsWaitingMax + 1));
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.request, kRequestsWaitingMax + 1);
  EXPECT_EQ(failure.status, 429);
  EXPECT_EQ(failure.code, "queue_full");
  EXPECT_GT(failure.retry_after_s, 0);
}

TEST_F(RouterTest, RefusesAPromptThatFillsTheContext) {
  Submit submit = ask(1);
  submit.prompt.assign(64, 10);
  stage.tell(submit);
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 400);
  EXPECT_EQ(failure.code, "context_length_exceeded");
  EXPECT_THAT(failure.message, HasSubstr("64 tokens"));
}

TEST_F(RouterTest, RefusesMoreOutputThanTheContextLeaves) {
  stage.tell(ask(1, 62));
  EXPECT_EQ(stage.does<Failure>().param, "max_tokens");
}

TEST_F(RouterTest, SpreadsRequestsOverVerifiers) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kSpare, verifier(kSpare));
  stage.tell(ask(1));
  stage.tell(ask(2));
  EXPECT_NE(stage.says<Start>().peer, stage.says<Start>().peer);
}

TEST_F(RouterTest, HoldsBackWhatExceedsAVerifiersRoomUntilOneEnds) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id : {1, 2, 3}) stage.tell(ask(id));
  stage.says<Start>();
  stage.says<Start>();
  EXPECT_TRUE(stage.silent<Start>());
  EXPECT_EQ(router.counters().waiting, 1);
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  EXPECT_EQ(stage.says<Start>().message.sequence, sequence(3));
}

TEST_F(RouterTest, TriesElsewhereAfterARefusalThatAllowsIt) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.hears(kSpare, verifier(kSpare));
  stage.says<Start>();
  stage.hears(kVerifier, Refused{.sequence = sequence(1), .epoch = 1, .reason = "full", .retry = true});
  lives(milliseconds(400), {kVerifier, kSpare});
  const To<Start> start = stage.says<Start>();
  EXPECT_EQ(start.peer, kSpare);
  EXPECT_EQ(start.message.epoch, 2);
}

TEST_F(RouterTest, FailsAfterARefusalThatIsFinal) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.hears(kVerifier, Refused{.sequence = sequence(1), .epoch = 1, .reason = "the cache is too small"});
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 400);
  EXPECT_EQ(failure.message, "the cache is too small");
}

TEST_F(RouterTest, CancelsAnAbandonedRequestAndFreesItsPlace) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.tell(Abandon{1});
  EXPECT_EQ(stage.says<Cancel>().message, (Cancel{sequence(1), 1}));
  EXPECT_EQ(router.counters().live, 0);
  EXPECT_EQ(router.counters().workers->front().assigned, 0);
}

TEST_F(RouterTest, ForgetsAnAbandonedRequestThatStillWaited) {
  stage.tell(ask(1));
  stage.tell(Abandon{1});
  EXPECT_EQ(router.counters().waiting, 0);
  stage.waits(milliseconds(11'000));
  EXPECT_TRUE(stage.idle<Failure>());
}

TEST_F(RouterTest, MovesTheWorkOfALeavingVerifier) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  stage.forget();
  stage.hears(kVerifier, Leaving{.incarnation = kVerifier.id});
  EXPECT_EQ(stage.says<Cancel>().peer, kVerifier);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

TEST_F(RouterTest, LetsALeavingVerifierFinishWhatNobodyElseCan) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.hears(kVerifier, Leaving{.incarnation = kVerifier.id});
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::stop);
  stage.forget();
  stage.tell(ask(2));
  EXPECT_TRUE(stage.silent<Start>());
}

TEST_F(RouterTest, NewStartsCarryTheDraftersOfTheMoment) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.tell(ask(1));
  EXPECT_EQ(stage.says<Start>().message.drafters.size(), 1);
  stage.down(kDrafter);
  stage.tell(ask(2));
  EXPECT_TRUE(stage.says<Start>().message.drafters.empty());
}

TEST_F(RouterTest, FailsWithTheVerifiersReason) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.hears(kVerifier,
              Tokens{.sequence = sequence(1), .epoch = 1, .finish = Finish::error, .reason = "logits were not finite"});
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 500);
  EXPECT_EQ(failure.message, "logits were not finite");
  EXPECT_EQ(router.counters().failed, 1);
}

TEST_F(RouterTest, FailsARequestWhoseTokensCannotBe) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {100});  // the vocabulary ends at 99
  EXPECT_EQ(stage.does<Failure>().code, "invalid_tokens");
  EXPECT_EQ(stage.says<Cancel>().message.sequence, sequence(1));
}

TEST_F(RouterTest, QuarantinesAPeerAfterThreeMalformedMessages) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (int strike = 0; strike < kStrikesMax; ++strike) stage.garbage(kVerifier);
  EXPECT_EQ(stage.does<Disconnect>().peer, kVerifier);
  stage.forget();
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_TRUE(stage.silent<Welcome>());
  EXPECT_EQ(router.counters().verifiers, 0);
}

TEST_F(RouterTest, RenewsLeasesOfAllWorkers) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.waits(milliseconds(200));
  EXPECT_EQ(stage.says<RouterHeartbeat>().message.router, kRouter);
}

TEST_F(RouterTest, ReportsTheFatesOfAllEpochsTogether) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kSpare, verifier(kSpare));
  stage.tell(ask(1));
  const Peer first = stage.says<Start>().peer;
  Tokens got{.sequence = sequence(1), .epoch = 1, .ids = {20}, .drafted = {1}};
  got.report = {.steps = 1, .received = 5, .accepted = 1, .rejected = 1, .unreached = 1, .held = 2};
  stage.hears(first, got);
  stage.down(first);
  const Peer second = stage.says<Start>().peer;
  got = {.sequence = sequence(1), .epoch = 2, .first_index = 1, .ids = {21}, .drafted = {1}};
  got.report = {.steps = 1, .received = 2, .accepted = 2};
  stage.hears(second, got);
  stage.does<Delivery>();
  EXPECT_EQ(stage.does<Delivery>().report,
            (SpeculationReport{.steps = 2, .received = 5, .accepted = 3, .rejected = 1, .unreached = 1}));
}

TEST_F(RouterTest, CountsEveryRequestOnce) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id : {1, 2, 3, 4}) stage.tell(ask(id));
  stage.tell(ask(5, 1000));
  stage.tell(Abandon{2});
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  const RouterCounters& c = router.counters();
  EXPECT_EQ(c.submitted, c.stopped + c.length + c.abandoned + c.failed + c.refused + c.rejected_full + c.waited_too_long +
                             c.waiting + c.live);
}

}  // namespace
}  // namespace slipstream
