// Requests, from Submit to the last token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Subjects that share this stage.
using TokenDelivery = RouterTest;
using RequestQueue = RouterTest;
using RouterDraining = RouterTest;

TEST_F(RouterTest, StartsCarryEverythingAVerifierNeeds) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.sequence, sequence(1));
  EXPECT_EQ(start.epoch, 1);
  EXPECT_EQ(start.spec.prompt_length, 3);
  EXPECT_THAT(start.tokens, ElementsAre(10, 11, 12));
  EXPECT_EQ(start.spec.seed, 5);
  EXPECT_EQ(start.spec.acceptance.rule, Rule::coupled);
  EXPECT_EQ(start.spec.output_max, 8);
  EXPECT_THAT(start.drafters, ElementsAre(DrafterRef{kDrafter.id, "tcp://d"}));
  EXPECT_GT(start.lease_ms, 0);
}

TEST_F(RouterTest, ChoosesTheGreedyRuleAtTemperatureZero) {
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.spec.sampling.temperature = 0;
  stage.tell(submit);
  EXPECT_EQ(stage.says<Start>().message.spec.acceptance.rule, Rule::greedy);
}

TEST_F(RouterTest, AsksForPlainDecodingWhenTheRequestDoes) {
  stage.hears(kDrafter, drafter(kDrafter, "tcp://d"));
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.speculation.enabled = false;
  stage.tell(submit);
  EXPECT_TRUE(stage.says<Start>().message.drafters.empty());
}

TEST_F(RouterTest, FillsAnOpenOutputLimitFromTheContext) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1, 0));
  EXPECT_EQ(stage.says<Start>().message.spec.output_max, 61);
}

TEST_F(RouterTest, FillsAnOpenOutputLimitFromWhatTheVerifierOffersIfThatIsLess) {
  Hello small = verifier(kVerifier);
  small.context_max = 40;  // its cache holds no more, the model could do 64
  stage.hears(kVerifier, small);
  stage.tell(ask(1, 0));
  EXPECT_EQ(stage.says<Start>().message.spec.output_max, 37);
}

TEST_F(RouterTest, GivesALongRequestToTheVerifierWhoseContextHoldsIt) {
  Hello small = verifier(kVerifier);
  small.context_max = 40;
  stage.hears(kVerifier, small);
  stage.hears(kSpare, verifier(kSpare));
  for (RequestId id : {1, 2}) {
    stage.tell(ask(id, 38));
    EXPECT_EQ(stage.says<Start>().peer, kSpare);
  }
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

TEST_F(RouterTest, StartsCarryWhatIsDoneToLogitsAndLogprobs) {
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.spec.logits_params = {.repetition_penalty = 1.2F, .bias = {{4, 1}}};
  submit.spec.top_logprobs = 5;
  stage.tell(submit);
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.spec.logits_params, submit.spec.logits_params);
  EXPECT_EQ(start.spec.top_logprobs, 5);
}

TEST_F(RouterTest, HandsOverHowDeepTheTreeOfEachTokenWas) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  Tokens first{.sequence = sequence(1), .epoch = 1, .ids = {20, 21}, .drafted = {0, 1}, .depths = {0, 3}};
  stage.hears(kVerifier, first);
  EXPECT_THAT(stage.does<Delivery>().depths, ElementsAre(0, 3));
  first.ids.push_back(22);
  first.drafted.push_back(0);
  first.depths.push_back(3);
  stage.hears(kVerifier, first);
  EXPECT_THAT(stage.does<Delivery>().depths, ElementsAre(3)) << "what is new";
}

TEST_F(RouterTest, HandsOverEachLogprobOnce) {
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.spec.top_logprobs = 0;
  stage.tell(submit);
  Tokens first{.sequence = sequence(1),
               .epoch = 1,
               .ids = {20, 21},
               .drafted = {0, 0},
               .depths = {0, 0},
               .logprobs = {{-1, {}}, {-2, {}}}};
  stage.hears(kVerifier, first);
  EXPECT_EQ(stage.does<Delivery>().logprobs, first.logprobs);
  Tokens more = first;
  more.ids.push_back(22);
  more.drafted.push_back(1);
  more.depths.push_back(1);
  more.logprobs.push_back({-3, {{22, -3}}});
  stage.hears(kVerifier, more);
  EXPECT_EQ(stage.does<Delivery>().logprobs, (std::vector<TokenLogprob>{{-3, {{22, -3}}}}));
}

TEST_F(RouterTest, FailsARequestWhoseLogprobsAreMissing) {
  stage.hears(kVerifier, verifier(kVerifier));
  Submit submit = ask(1);
  submit.spec.top_logprobs = 0;
  stage.tell(submit);
  tokens(kVerifier, 1, 1, 0, {20});
  EXPECT_EQ(stage.does<Failure>().code, "invalid_tokens");
}

TEST_F(TokenDelivery, DeliversEachTokenOnceWhenTokensAreRepeated) {
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

TEST_F(TokenDelivery, AsksForWhatAGapLeftOutAndDeliversInOrder) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 2, {22});
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Ack>().message.next_index, 0);
  tokens(kVerifier, 1, 1, 0, {20, 21, 22});
  EXPECT_THAT(stage.does<Delivery>().ids, ElementsAre(20, 21, 22));
}

TEST_F(TokenDelivery, PacesAcksForNothingNew) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20});
  stage.forget();
  for (int i = 0; i < 10; ++i) tokens(kVerifier, 1, 1, 0, {20});
  stage.says<Ack>();
  EXPECT_TRUE(stage.silent<Ack>());
}

TEST_F(TokenDelivery, FinishesOnceAndLetsTheVerifierForgetALateCopy) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::stop);
  EXPECT_EQ(router.counters().stopped, 1);
  tokens(kVerifier, 1, 1, 0, {20, 2}, Finish::stop);
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Cancel>().message, (Cancel{sequence(1), 1}));
}

TEST_F(RequestQueue, WaitsForAVerifierThenGivesUpWithRetryAfter) {
  stage.tell(ask(1));
  stage.waits(milliseconds(9900));
  EXPECT_TRUE(stage.idle<Failure>());
  stage.waits(milliseconds(200));
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.status, 503);
  EXPECT_EQ(failure.code, "no_verifier");
  EXPECT_GT(failure.retry_after_s, 0);
}

TEST_F(RequestQueue, ServesWhatWaitedWhenAVerifierComes) {
  stage.tell(ask(1));
  stage.waits(milliseconds(5000));
  stage.hears(kVerifier, verifier(kVerifier));
  EXPECT_EQ(stage.says<Start>().message.sequence, sequence(1));
}

TEST_F(RequestQueue, AnswersAtOnceWhenItIsFull) {
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

TEST_F(RouterTest, NamesTheResultOfAToolThatIsMostOfAPromptThatFillsTheContext) {
  Submit submit = ask(1);
  submit.prompt.assign(64, 10);
  submit.longest_result = "messages[2]";
  stage.tell(submit);
  const Failure failure = stage.does<Failure>();
  EXPECT_EQ(failure.param, "messages[2]");
  EXPECT_THAT(failure.message, HasSubstr("Your `messages` took 64 of them"));
  EXPECT_THAT(failure.message, HasSubstr("`messages[2]`"));
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

TEST_F(RequestQueue, HoldsBackWhatExceedsAVerifiersRoomUntilOneEnds) {
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

TEST_F(RouterTest, TellsAGrammarThatBecameTooComplexFromMasksThatLeaveNoToken) {
  stage.hears(kVerifier, verifier(kVerifier));
  const auto code = [&](RequestId id, std::string field) {
    stage.tell(ask(id));
    stage.hears(kVerifier, Tokens{.sequence = sequence(id), .epoch = 1, .finish = Finish::error, .field = std::move(field)});
    const Failure failure = stage.does<Failure>();
    EXPECT_EQ(failure.status, 400);
    return failure.code;
  };
  EXPECT_EQ(code(1, "grammar"), "grammar_too_complex");
  EXPECT_EQ(code(2, "allowed_token_ids"), "no_token_left");
}

TEST_F(RouterTest, FailsARequestWhoseTokensCannotBe) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  tokens(kVerifier, 1, 1, 0, {100});  // the vocabulary ends at 99
  EXPECT_EQ(stage.does<Failure>().code, "invalid_tokens");
  EXPECT_EQ(stage.says<Cancel>().message.sequence, sequence(1));
}

TEST_F(RouterTest, CountsEveryRequestOnce) {
  stage.hears(kVerifier, verifier(kVerifier));
  for (RequestId id : {1, 2, 3, 4}) stage.tell(ask(id));
  stage.tell(ask(5, 1000));
  stage.tell(Abandon{2});
  tokens(kVerifier, 1, 1, 0, {2}, Finish::stop);
  const RouterCounters& c = router.counters();
  EXPECT_EQ(c.submitted, c.stopped + c.length + c.abandoned + c.failed + c.refused + c.rejected_full + c.overloaded +
                             c.waited_too_long + c.waiting + c.live);
}

TEST_F(RouterDraining, TakesNothingMoreButFinishesWhatItHas) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  stage.tell(Closing{});
  EXPECT_TRUE(router.counters().closing);
  stage.tell(ask(2));
  const Failure refused = stage.does<Failure>();
  EXPECT_EQ(refused.request, 2);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code, "shutting_down");
  EXPECT_GT(refused.retry_after_s, 0);
  tokens(kVerifier, 1, 1, 0, {5, 2}, Finish::stop);
  EXPECT_EQ(stage.does<Delivery>().finish, Finish::stop);
}

TEST_F(RouterDraining, TakesWhatCameBeforeItWasToldToStop) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(Closing{});
  Submit waited = ask(1);  // for its grammar, say
  waited.came_in_time = true;
  stage.tell(waited);
  EXPECT_EQ(stage.says<Start>().message.sequence, sequence(1));
}

TEST_F(RouterDraining, FailsWhatIsLeftWhenItMustStopNow) {
  stage.hears(kVerifier, verifier(kVerifier));
  stage.tell(ask(1));
  accept(kVerifier, 1, 1);
  for (RequestId id : {2, 3}) stage.tell(ask(id));
  stage.tell(Closing{});
  stage.tell(Closing{.now = true});
  for (RequestId id : {1, 2, 3}) EXPECT_EQ(stage.does<Failure>().request, id);
  EXPECT_EQ(stage.says<Cancel>().message, (Cancel{sequence(1), 1}));
  EXPECT_EQ(router.counters().failed, 3);
  EXPECT_EQ(router.counters().cut, 3);
  EXPECT_EQ(router.counters().live + router.counters().waiting, 0);
}

}  // namespace
}  // namespace slipstream
