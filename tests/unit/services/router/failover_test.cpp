// A verifier falls silent, leaves or dies, and its requests go on elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Peer kThird{0x8000000000000004};

class FailoverTest : public RouterTest {
 protected:
  // Request 1 runs at kVerifier and has two tokens; kSpare could go on with it.
  void emits_two_beside_a_spare() {
    stage.hears(kVerifier, verifier(kVerifier));
    stage.tell(ask(1));
    accept(kVerifier, 1, 1);
    tokens(kVerifier, 1, 1, 0, {20, 21});
    stage.hears(kSpare, verifier(kSpare));
    stage.forget();
  }
};
// Subjects that share this stage.
using VerifierDraining = FailoverTest;
using VerifierLoss = FailoverTest;

TEST_F(VerifierDraining, TellsClientsAndTheLogWhyTheOnlyVerifierLeaves) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  stage.forget();
  stage.hears(kVerifier, Leaving{.reason = "the verifier was told to stop"});
  EXPECT_THAT(stage.does<Note>().text,
              HasSubstr("leaves, 0 of its 1 requests move to other verifiers, 1 end there: the verifier"));
  stage.tell(ask(2));
  lives(milliseconds(11'000), {kVerifier});
  EXPECT_THAT(stage.does<Failure>().message, HasSubstr("leaves this router: the verifier was told to stop."));
}

TEST_F(VerifierLoss, SaysHowManyRequestsGoOnWithoutASilentVerifier) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.tell(ask(2));
  stage.forget();
  lives(milliseconds(2500), {});
  EXPECT_THAT(stage.does<Note>().text, HasSubstr("silent for 2000 ms, its 2 requests go on without it"));
}

TEST_F(VerifierLoss, IsNotSeenInAPauseOfTheRouter) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.forget();
  stage.sleeps(milliseconds(5000));
  EXPECT_THAT(stage.does<Note>().text, HasSubstr("this router did not run for 5000 ms"));
  EXPECT_EQ(router.counters().workers_silenced, 0U);
  lives(milliseconds(2500), {});
  EXPECT_EQ(router.counters().workers_silenced, 1U) << "who says nothing after it is silent";
}

TEST_F(FailoverTest, TellsTheLogOfRequestsThatFail) {
  stage.tell(ask(1));
  stage.tell(ask(2));
  lives(milliseconds(11'000), {});
  EXPECT_EQ(stage.does<Failure>().code, "no_verifier");
  EXPECT_THAT(stage.does<Note>().text, HasSubstr("2 requests failed, the last because: "));
}

TEST_F(FailoverTest, ReplaysOnAnotherVerifierWithPromptAndEmitted) {
  emits_two_beside_a_spare();
  stage.down(kVerifier);
  const To<Start> start = stage.says<Start>();
  EXPECT_EQ(start.peer, kSpare);
  EXPECT_EQ(start.message.epoch, 2);
  EXPECT_EQ(start.message.spec.prompt_length, 3);
  EXPECT_THAT(start.message.tokens, ElementsAre(10, 11, 12, 20, 21));
  EXPECT_EQ(start.message.spec.output_max, 8);
  tokens(kSpare, 1, 2, 2, {22});
  const Delivery delivery = stage.does<Delivery>();
  EXPECT_THAT(delivery.ids, ElementsAre(22));
  EXPECT_FALSE(delivery.may_differ) << "rows have the same bits there";
  EXPECT_EQ(router.counters().replays, 1);
}

// The numerics of both are those of --fast-rows.
TEST_F(FailoverTest, SaysOfAReplayWhereRowsVaryThatWordsMayDiffer) {
  for (const Peer peer : {kVerifier, kSpare}) {
    Hello hello = verifier(peer);
    hello.rows_vary = true;
    stage.hears(peer, hello);
  }
  stage.tell(ask(1));
  const Peer first = stage.says<Start>().peer, second = first == kVerifier ? kSpare : kVerifier;
  tokens(first, 1, 1, 0, {20});
  EXPECT_FALSE(stage.does<Delivery>().may_differ);
  stage.down(first);
  tokens(second, 1, 2, 1, {21});
  EXPECT_TRUE(stage.does<Delivery>().may_differ);
}

TEST_F(FailoverTest, GoesOnOnceAtAnotherVerifierWhenAStepFails) {
  const auto fails = [&](Peer verifier, Epoch epoch) {
    stage.hears(verifier, Tokens{.sequence = sequence(1),
                                 .epoch = epoch,
                                 .first_index = 2,
                                 .finish = Finish::error,
                                 .reason = "logits were not finite"});
  };
  emits_two_beside_a_spare();
  fails(kVerifier, 1);
  EXPECT_TRUE(stage.idle<Failure>());
  const Note note = stage.does<Note>();
  EXPECT_EQ(note.sequence, sequence(1));
  EXPECT_EQ(note.text, "a verifier failed it: logits were not finite; another verifier goes on with it");
  const To<Start> start = stage.says<Start>();
  EXPECT_EQ(start.peer, kSpare);
  EXPECT_THAT(start.message.tokens, ElementsAre(10, 11, 12, 20, 21));
  accept(kSpare, 1, 2);
  fails(kSpare, 2);
  EXPECT_EQ(stage.does<Failure>().message, "logits were not finite") << "it is the request's own fault, likely";
}

TEST_F(FailoverTest, NewRequestsAvoidAVerifierWhoseStepFailed) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  stage.hears(kVerifier, Tokens{.sequence = sequence(1), .epoch = 1, .first_index = 1, .finish = Finish::error});
  accept(kSpare, 1, 2);
  stage.forget();
  stage.tell(ask(2));
  EXPECT_EQ(stage.says<Start>().peer, kSpare) << "the other has nothing to do";
}

TEST_F(VerifierLoss, FencesTokensOfAVerifierThatWakesAfterBeingGivenUp) {
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

TEST_F(FailoverTest, NeverReplaysOnOtherNumerics) {
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

TEST_F(FailoverTest, ReplaysWhereTheContextHoldsWhatWasPromised) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 0));
  tokens(kVerifier, 1, 1, 0, {20});  // from here on 61 tokens are promised
  Hello small = verifier(kSpare);
  small.context_max = 40;
  stage.hears(kSpare, small);
  stage.hears(kThird, verifier(kThird));
  stage.forget();
  stage.down(kVerifier);
  const To<Start> start = stage.says<Start>();
  EXPECT_EQ(start.peer, kThird);
  EXPECT_EQ(start.message.spec.output_max, 61);
}

TEST_F(FailoverTest, PromisesAnUnbegunRequestAnewFromTheNextVerifiersContext) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 0));
  Hello small = verifier(kSpare);
  small.context_max = 40;
  stage.hears(kSpare, small);
  stage.forget();
  stage.down(kVerifier);
  EXPECT_EQ(stage.says<Start>().message.spec.output_max, 37);
}

TEST_F(FailoverTest, MovesAnUnbegunRequestToAnyNumerics) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  Hello other = verifier(kSpare);
  other.numerics_id = "gpu-test";
  stage.hears(kSpare, other);
  stage.forget();
  stage.down(kVerifier);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

TEST_F(FailoverTest, FinishesTheRequestWhenOnlyTheFinishWasLost) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 2));
  tokens(kVerifier, 1, 1, 0, {20, 21});
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::none);
  stage.down(kVerifier);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::length);
}

TEST_F(FailoverTest, GoesOnInANewEpochAtAVerifierThatHasFreedTheSequence) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.forget();
  lives(milliseconds(2500), {kVerifier});
  EXPECT_EQ(stage.says<Ack>().message, (Ack{sequence(1), 1, 1, false}));
  EXPECT_TRUE(stage.silent<Start>());
  stage.hears(kVerifier, Tokens{.sequence = sequence(1), .epoch = 1, .first_index = 1, .finish = Finish::cancelled});
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.epoch, 2) << "rounds, and so their noise, begin anew";
  EXPECT_THAT(start.tokens, ElementsAre(10, 11, 12, 20));
}

TEST_F(VerifierDraining, MovesTheWorkOfALeavingVerifier) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  stage.forget();
  stage.hears(kVerifier, Leaving{});
  EXPECT_EQ(stage.says<Cancel>().peer, kVerifier);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

TEST_F(VerifierDraining, MovesTheWorkOnceAnotherVerifierComes) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kVerifier, Leaving{});
  stage.hears(kSpare, verifier(kSpare));
  stage.forget();
  stage.hears(kVerifier, Leaving{});  // as with each of its heartbeats
  EXPECT_EQ(stage.says<Cancel>().peer, kVerifier);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

TEST_F(VerifierDraining, QueueTimeoutCountsFromTheMoveOfARequestThatRan) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  lives(milliseconds(config().begun_wait_ms), {kVerifier});  // it runs for longer than a request may wait
  stage.hears(kSpare, verifier(kSpare));
  stage.forget();
  stage.hears(kVerifier, Leaving{});
  EXPECT_EQ(stage.says<Start>().message.epoch, 2);
  stage.hears(kSpare, Refused{.sequence = sequence(1), .epoch = 2, .reason = "full", .retry = true});
  lives(milliseconds(300), {kVerifier, kSpare});
  EXPECT_EQ(stage.says<Start>().message.epoch, 3);
  EXPECT_EQ(router.counters().waited_too_long, 0);
}

TEST_F(VerifierDraining, LetsALeavingVerifierFinishWhatNoOtherCan) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  stage.hears(kVerifier, Leaving{});
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::stop);
  stage.forget();
  stage.tell(ask(2));
  EXPECT_TRUE(stage.silent<Start>());
}

TEST_F(FailoverTest, StartsOfAReplayCarryTheDraftersOfTheMoment) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.tell(ask(1));
  EXPECT_EQ(stage.says<Start>().message.drafters.size(), 1);
  stage.down(kDrafter);
  stage.tell(ask(2));
  EXPECT_TRUE(stage.says<Start>().message.drafters.empty());
}

TEST_F(FailoverTest, QuarantinesAPeerAfterThreeMalformedMessages) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (int strike = 0; strike < kStrikesMax; ++strike) stage.garbage(kVerifier);
  EXPECT_EQ(stage.does<Disconnect>().peer, kVerifier);
  stage.forget();
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_TRUE(stage.silent<Welcome>());
  EXPECT_EQ(router.counters().verifiers, 0);
}

TEST_F(FailoverTest, RenewsLeasesOfAllWorkers) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.waits(milliseconds(200));
  EXPECT_EQ(stage.says<RouterHeartbeat>().message.router, kRouter);
}

TEST_F(FailoverTest, ReportsTheFatesOfAllEpochsTogether) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.hears(kSpare, verifier(kSpare));
  stage.tell(ask(1));
  const Peer first = stage.says<Start>().peer;
  Tokens got{.sequence = sequence(1), .epoch = 1, .ids = {20}, .drafted = {1}, .depths = {1}};
  got.report = {.steps = 1, .received = 5, .accepted = 1, .rejected = 1, .unreached = 1, .held = 2};
  stage.hears(first, got);
  stage.down(first);
  const Peer second = stage.says<Start>().peer;
  got = {.sequence = sequence(1), .epoch = 2, .first_index = 1, .ids = {21}, .drafted = {1}, .depths = {1}};
  got.report = {.steps = 1, .received = 2, .accepted = 2};
  stage.hears(second, got);
  stage.does<Delivery>();
  EXPECT_EQ(stage.does<Delivery>().report,
            (SpeculationReport{.steps = 2, .received = 5, .accepted = 3, .rejected = 1, .unreached = 1}));
  EXPECT_EQ(router.counters().speculation.draft_tokens, 0U) << "requests are counted when they end";
  got.first_index = 2;
  got.ids = {22};
  got.drafted = got.depths = {0};
  got.finish = Finish::length;
  got.report.steps = 2;
  stage.hears(second, got);
  EXPECT_EQ(router.counters().speculation.draft_tokens, 5U);
  EXPECT_EQ(router.counters().speculation.accepted_tokens, 3U);
}

}  // namespace
}  // namespace slipstream
