// Every wait ends, and what is said again is said at growing gaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

class WaitsTest : public RouterTest {
 protected:
  // Time passes while these heartbeat: with a sequence, and as many steps as they ended.
  void beats(milliseconds duration, std::initializer_list<Peer> workers, bool steps) {
    for (milliseconds t{0}; t < duration; t += milliseconds(100)) {
      stage.waits(milliseconds(100));
      ended += steps ? 1 : 0;
      for (Peer peer : workers) stage.hears(peer, WorkerHeartbeat{.sequences = 1, .steps = ended});
    }
  }
  int starts() {  // that were sent, and forgets them
    int count = 0;
    for (; !stage.silent<Start>(); ++count) stage.says<Start>();
    return count;
  }
  uint64_t ended = 0;
};

// Subjects that share this stage.
using StuckVerifier = WaitsTest;
using OtherWeights = WaitsTest;

TEST_F(WaitsTest, AStartIsRepeatedAtGrowingGapsAndThenGivenUp) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  EXPECT_EQ(starts(), 1);
  lives(milliseconds(1000), {kVerifier});  // after 0.3 and 0.9 s
  EXPECT_EQ(starts(), 2);
  lives(milliseconds(3900), {kVerifier});  // after 2.1, 3.3, 4.5 s
  EXPECT_EQ(starts(), 3);
  stage.hears(kSpare, verifier(kSpare));
  lives(milliseconds(300), {kVerifier, kSpare});
  const To<Start> elsewhere = stage.says<Start>();
  EXPECT_EQ(elsewhere.peer, kSpare);
  EXPECT_EQ(elsewhere.message.epoch, 2u);
}

TEST_F(WaitsTest, RefusalsThatAllowAnotherTryArePacedMoreAndMore) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  int tries = 0;
  for (int i = 0; i < 100; ++i) {  // 10 s
    while (!stage.silent<Start>()) {
      const Start start = stage.says<Start>().message;
      stage.hears(kVerifier, Refused{.sequence = start.sequence, .epoch = start.epoch, .reason = "full", .retry = true});
      ++tries;
    }
    lives(milliseconds(100), {kVerifier});
  }
  EXPECT_GE(tries, 5);
  EXPECT_LE(tries, 8);
}

TEST_F(WaitsTest, ARefusalOfARequestThatRanStartsItsWaitAnew) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  beats(milliseconds(119'900), {kVerifier}, true);
  stage.hears(kVerifier, Refused{.sequence = sequence(1), .epoch = 1, .reason = "leaving", .retry = true});
  stage.forget();
  beats(milliseconds(1000), {kVerifier}, true);
  EXPECT_TRUE(stage.idle<Failure>());
  EXPECT_EQ(stage.says<Start>().message.epoch, 2u);
}

TEST_F(WaitsTest, AQuietSequenceIsAskedForAtGrowingGaps) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  stage.forget();
  beats(milliseconds(30'000), {kVerifier}, true);
  int acks = 0;
  for (; !stage.silent<Ack>(); ++acks) EXPECT_EQ(stage.says<Ack>().message, (Ack{sequence(1), 1, 0, false}));
  EXPECT_EQ(acks, 4) << "after 2, 6, 14 and 30 s";
  EXPECT_EQ(router.counters().quiet, 4U);
}

TEST_F(WaitsTest, ARequestThatNeverGetsATokenFails) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  beats(milliseconds(599'000), {kVerifier}, true);
  EXPECT_TRUE(stage.idle<Failure>());
  beats(milliseconds(1200), {kVerifier}, true);
  EXPECT_EQ(stage.does<Failure>().code, "no_token");
}

TEST_F(StuckVerifier, IsGivenUpThoughItHeartbeats) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  beats(milliseconds(3000), {kVerifier, kSpare}, true);
  stage.forget();
  beats(milliseconds(19'500), {kVerifier, kSpare}, false);
  for (; !stage.silent<Start>();) EXPECT_EQ(stage.says<Start>().peer, kVerifier);
  beats(milliseconds(1000), {kVerifier, kSpare}, false);
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
  EXPECT_EQ(router.counters().workers_stuck, 1u);
  EXPECT_EQ(router.counters().verifiers, 1u);
}

// As one does that works for a copy of this router: it never ends, and would keep what it was to
// finish for ever.
TEST_F(StuckVerifier, IsGivenUpThoughItLeaves) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  stage.hears(kVerifier, Leaving{.reason = "one identity"});
  beats(milliseconds(20'500), {kVerifier}, false);
  EXPECT_EQ(router.counters().workers_stuck, 1u);
  beats(milliseconds(10'500), {kVerifier}, false);
  EXPECT_EQ(stage.does<Failure>().code, "no_verifier");
}

TEST_F(StuckVerifier, IsThereAgainOnceItEndsAStep) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  beats(milliseconds(20'500), {kVerifier}, false);
  EXPECT_EQ(router.counters().verifiers, 0u);
  stage.forget();
  beats(milliseconds(200), {kVerifier}, true);
  EXPECT_EQ(router.counters().verifiers, 1u);
  EXPECT_EQ(stage.says<Start>().message.epoch, 2u);
}

// It was frozen, its requests were taken from it, and it has none now: without work there will be
// no next step to judge it by.
TEST_F(StuckVerifier, IsThereAgainOnceItHasNothingLeft) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  beats(milliseconds(20'500), {kVerifier}, false);
  EXPECT_EQ(router.counters().verifiers, 0u);
  lives(milliseconds(400), {kVerifier});
  EXPECT_EQ(router.counters().verifiers, 1u);
}

TEST_F(OtherWeights, AreWarnedOfWhenTheyTakeOver) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.down(kVerifier);
  stage.forget();
  Hello other = verifier(kSpare);
  stage.hears(kSpare, other);
  EXPECT_FALSE(stage.does<Note>().warning) << "the same weights are nothing new";
  EXPECT_TRUE(stage.idle<Note>());
  stage.down(kSpare);
  stage.forget();
  other.fingerprint.weights += 1;
  stage.hears(kSpare, other);
  EXPECT_FALSE(stage.does<Note>().warning);
  EXPECT_TRUE(stage.does<Note>().warning);
}

TEST_F(StuckVerifier, IsNotOneThatHasNothingToDo) {
  stage.hears(kVerifier, verifier(kVerifier));
  lives(milliseconds(60'000), {kVerifier});
  EXPECT_EQ(router.counters().workers_stuck, 0u);
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  beats(milliseconds(10'000), {kVerifier}, false);
  EXPECT_EQ(router.counters().workers_stuck, 0u) << "it has had this for ten seconds only";
}

TEST_F(WaitsTest, AnAckThatComesTooEarlyIsSentLaterNotLeftOut) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  tokens(kVerifier, 1, 1, 0, {20});
  tokens(kVerifier, 1, 1, 0, {20});  // its Ack would be one too many now
  stage.forget();
  stage.waits(milliseconds(200));
  EXPECT_EQ(stage.says<Ack>().message.next_index, 1);
  EXPECT_TRUE(stage.silent<Ack>());
}

TEST_F(OtherWeights, NeverGoOnWithAnAnswer) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.tell(ask(2));  // this one has not begun
  stage.down(kVerifier);
  stage.forget();
  Hello swapped = verifier(kSpare);
  swapped.fingerprint.weights = 0x99;
  stage.hears(kSpare, swapped);
  EXPECT_EQ(stage.says<Start>().message.sequence, sequence(2));
  tokens(kSpare, 2, 2, 0, {33});
  EXPECT_EQ(stage.does<Delivery>().request, 2u);
  beats(milliseconds(10'200), {kSpare}, true);
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.request, 1u);
  EXPECT_EQ(failure.code, "no_verifier");
  EXPECT_THAT(failure.message, HasSubstr("other weights or numerics"));
}

}  // namespace
}  // namespace slipstream
