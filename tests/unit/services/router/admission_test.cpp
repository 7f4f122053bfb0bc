// Who is refused, for how long the others wait, and who is served first.
#include "services/router/admission.h"

#include <deque>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

RouterConfig waits_two_seconds() {
  RouterConfig given = config();
  given.queue_wait_ms = 2000;
  return given;
}

// One verifier with two places, of which one becomes free every half a second, and a request that
// waits for it: so two a second start. Requests 900 and on are those of before.
class AdmissionTest : public RouterTest {
 protected:
  explicit AdmissionTest(RouterConfig given = waits_two_seconds()) : RouterTest(std::move(given)) {}

  void becomes_busy() {
    stage.hears(kVerifier, verifier(kVerifier));
    for (RequestId id : {900, 901}) submit(id);
    for (RequestId id = 902; id < 962; ++id) {
      lives(milliseconds(500), {kVerifier});
      submit(id);
      EXPECT_EQ(frees_a_place(), id);
    }
    stage.forget();
  }
  void submit(RequestId id, int32_t priority = 0, TenantId tenant = kNoTenant) {
    Submit one = ask(id);
    one.priority = priority;
    one.spec.tenant = tenant;
    stage.tell(one);
    starts();
  }
  // The oldest answer that runs ends. Returns the request that starts in its place; 0: none.
  RequestId frees_a_place() {
    const auto [id, peer] = running.front();
    running.pop_front();
    tokens(peer, id, 1, 0, {2}, Finish::stop);
    return starts();
  }
  RequestId starts() {
    RequestId last = 0;
    while (!stage.silent<Start>()) {
      const To<Start> start = stage.says<Start>();
      last = start.message.sequence.counter;
      running.emplace_back(last, start.peer);
      accept(start.peer, last, start.message.epoch);
    }
    return last;
  }
  std::deque<std::pair<RequestId, Peer>> running;
};

struct UnboundedTest : AdmissionTest {
  static RouterConfig without() {
    RouterConfig given = config();
    given.queue_wait_ms = 0;
    return given;
  }
  UnboundedTest() : AdmissionTest(without()) {}
};

// Subjects that share this stage.
using ExpectedWait = AdmissionTest;
using RequestPriority = AdmissionTest;

TEST_F(ExpectedWait, RefusesAtOnceWhatWouldWaitTooLongAndSaysWhenToComeBack) {
  becomes_busy();
  for (RequestId id : {1, 2, 3, 4}) submit(id);
  EXPECT_TRUE(stage.idle<Failure>()) << "the fourth waits for two seconds";
  submit(5);
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.request, 5u);
  EXPECT_EQ(failure.status, 429);
  EXPECT_EQ(failure.code, "overloaded");
  EXPECT_EQ(failure.retry_after_s, 3) << "five places in two and a half seconds";
  EXPECT_THAT(failure.message, HasSubstr("for about 2.4 s, and 2.0 s is the limit"));
  EXPECT_EQ(router.counters().overloaded, 1u);
  EXPECT_NEAR(router.counters().expected_wait_seconds, 2.5, 0.25);
}

TEST_F(ExpectedWait, RefusesNothingWhileAVerifierHasRoom) {
  becomes_busy();
  for (RequestId id : {1, 2, 3, 4, 5}) submit(id);
  stage.does<Failure>();
  stage.hears(kSpare, verifier(kSpare));
  starts();
  for (int place = 0; place < 3; ++place) frees_a_place();
  EXPECT_EQ(router.counters().expected_wait_seconds, 0);
  submit(6);
  EXPECT_TRUE(stage.idle<Failure>());
}

TEST_F(ExpectedWait, RefusesNothingOfAFirstRushBeforeItKnowsHowFastAnswersEnd) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id = 1; id <= 50; ++id) submit(id);
  EXPECT_TRUE(stage.idle<Failure>());
}

// Room is there for all, but the last prompt would be prefilled after all others.
TEST_F(ExpectedWait, RefusesWhatWouldWaitForTooManyPromptsBeforeItsOwn) {
  Hello large = verifier(kVerifier);
  large.sequences_max = 64;
  stage.hears(kVerifier, large);
  for (RequestId id = 1; id <= 10; ++id) submit(id);
  for (RequestId id = 1; id <= 2; ++id) {
    lives(milliseconds(500), {kVerifier});
    tokens(kVerifier, id, 1, 0, {20});
  }
  submit(11);  // three of its kind in a second, at best, and eight are before it
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.code, "overloaded");
  EXPECT_EQ(failure.retry_after_s, 3);
  stage.tell(Abandon{3});
  for (RequestId id = 4; id <= 7; ++id) tokens(kVerifier, id, 1, 0, {20});
  submit(12);
  EXPECT_TRUE(stage.idle<Failure>()) << "three are awaited";
}

TEST_F(ExpectedWait, RefusesWhatComesLaterToARushThatNothingEnds) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id : {1, 2}) submit(id);
  lives(milliseconds(2500), {kVerifier});
  submit(3);
  EXPECT_EQ(stage.does<Failure>().code, "overloaded");
}

TEST_F(ExpectedWait, LetsAnAnswerThatHasBegunHaveItsOtherChoices) {
  becomes_busy();
  for (RequestId id : {1, 2, 3, 4}) submit(id);
  Submit other = ask(5);
  other.answer_begun = true;
  stage.tell(other);
  EXPECT_TRUE(stage.idle<Failure>());
  lives(milliseconds(6000), {kVerifier});
  for (RequestId id : {1, 2, 3, 4}) EXPECT_EQ(stage.does<Failure>().request, id);
  EXPECT_TRUE(stage.idle<Failure>()) << "nor is it given up as soon as the others";
}

TEST_F(ExpectedWait, GivesUpWhatHasWaitedForTwiceAsLongAsItMay) {
  becomes_busy();
  submit(1);
  lives(milliseconds(3900), {kVerifier});
  EXPECT_TRUE(stage.idle<Failure>());
  lives(milliseconds(200), {kVerifier});
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 503);
  EXPECT_EQ(failure.code, "queue_timeout");
  EXPECT_GT(failure.retry_after_s, 0);
  EXPECT_EQ(router.counters().waited_too_long, 1u);
}

TEST_F(ExpectedWait, CountsTheWaitForAGrammar) {
  becomes_busy();
  Submit asks = ask(1);
  asks.waited = std::chrono::milliseconds(3000);
  stage.tell(asks);
  lives(milliseconds(900), {kVerifier});
  EXPECT_TRUE(stage.idle<Failure>());
  lives(milliseconds(200), {kVerifier});
  EXPECT_EQ(stage.does<Failure>().code, "queue_timeout");
}

TEST_F(ExpectedWait, GivesUpNoneThatItsVerifierLeftUntilMuchLater) {
  becomes_busy();
  tokens(kVerifier, running.front().first, 1, 0, {20});
  stage.hears(kSpare, verifier(kSpare));
  for (RequestId id : {1, 2}) submit(id);  // they fill the other verifier
  stage.down(kVerifier);
  stage.forget();
  lives(milliseconds(9000), {kSpare});
  EXPECT_TRUE(stage.idle<Failure>());
  EXPECT_EQ(router.counters().waiting, 2u);
}

TEST_F(UnboundedTest, RefusesByNumberAlone) {
  becomes_busy();
  for (RequestId id = 1; id <= kRequestsWaitingMax; ++id) submit(id);
  EXPECT_TRUE(stage.idle<Failure>());
  submit(kRequestsWaitingMax + 1);
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.code, "queue_full");
  EXPECT_EQ(failure.retry_after_s, 60) << "the expected wait is over two minutes: no Retry-After is longer than one";
}

TEST_F(UnboundedTest, GivesUpNothingForTwoMinutes) {
  becomes_busy();
  submit(1);
  lives(milliseconds(119'000), {kVerifier});
  EXPECT_TRUE(stage.idle<Failure>());
}

TEST_F(RequestPriority, DecidesWhoIsServedFirst) {
  becomes_busy();
  submit(1, 100);
  submit(2, 0);
  submit(3, -100);
  for (RequestId id : {3, 2, 1}) EXPECT_EQ(frees_a_place(), id);
}

TEST_F(RequestPriority, CountsInTheExpectedWaitOnlyThoseThatGoBefore) {
  becomes_busy();
  for (RequestId id : {1, 2, 3, 4}) submit(id);
  submit(5);
  EXPECT_EQ(stage.does<Failure>().request, 5u);
  submit(6, 100);
  EXPECT_EQ(stage.does<Failure>().request, 6u);
  submit(7, -100);
  EXPECT_TRUE(stage.idle<Failure>());
}

TEST_F(RequestPriority, IsEqualForTwoKeysThatTakeTurns) {
  becomes_busy();
  for (RequestId id : {1, 2, 3}) submit(id, 0, 10);
  submit(4, 0, 11);
  for (RequestId id : {1, 4, 2, 3}) EXPECT_EQ(frees_a_place(), id);
}

// Others go before it again and again, but it is told so in time.
TEST_F(RequestPriority, LeavesNobodyWaitingForEver) {
  becomes_busy();
  submit(1, 100);
  for (RequestId id = 2; id < 12; ++id) {
    submit(id);
    frees_a_place();
    EXPECT_TRUE(id > 9 || stage.idle<Failure>());
    lives(milliseconds(500), {kVerifier});
  }
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.request, 1u);
  EXPECT_EQ(failure.code, "queue_timeout");
}

}  // namespace
}  // namespace slipstream
