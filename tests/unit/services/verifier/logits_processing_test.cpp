// What a sequence asks to be done to logits, and their logprobs, on their way through the verifier.
#include <gmock/gmock.h>

#include "tests/unit/common/sampling/adjust.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using LogitsProcessingTest = VerifierStage;

// Of drafted tokens and the target's own, kept and sent again like the tokens; nothing of them in a
// sequence that did not ask.
TEST_F(LogitsProcessingTest, SendsTheLogprobOfEachTokenUntilItIsAcked) {
  meet_drafter();
  Start asks = second();
  asks.spec.top_logprobs = 2;
  asks.spec.prompt_length = 2;  // the first epoch's one token has no logprob here any more, and is not sent
  stage.hears(kRouter, asks);
  stage.hears(kDrafter, tree({{50, kRoot, .9F}, {13, kRoot, .8F}, {14, 1, .7F}}, stage.says<Advance>()));
  runs();
  ASSERT_EQ(plan->logprobs.size(), plan->wanted.size());
  EXPECT_EQ(plan->logprobs[1].parent, 0);
  EXPECT_EQ(plan->logprobs[3].parent, 2) << "14 follows 13, the root's second child";
  sample_token();
  const Tokens tokens = stage.says<Tokens>().message;
  EXPECT_EQ(tokens.first_index, 1);
  EXPECT_EQ(tokens.ids, (std::vector<TokenId>{13, 14, 15}));
  ASSERT_EQ(tokens.logprobs.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tokens.logprobs[i], (TokenLogprob{-13.0F - static_cast<float>(i), {2, Logprob{tokens.ids[i], -1}}}));
  }
  stage.hears(kRouter, Ack{asks.sequence, 1, 1});  // none of them came
  EXPECT_EQ(stage.says<Tokens>().message.logprobs, tokens.logprobs);
}

TEST_F(LogitsProcessingTest, SendsNoLogprobsThatNobodyAskedFor) {
  stage.hears(kRouter, start());
  EXPECT_TRUE(runs().logprobs.empty());
  sample_token();
  EXPECT_TRUE(stage.says<Tokens>().message.logprobs.empty());
}

// What the job is lent knows the prompt, and as output what an earlier epoch emitted and what was
// emitted here since.
TEST_F(LogitsProcessingTest, LendsEachStepWhatItsSequenceHolds) {
  Start asks = start();
  asks.spec.logits_params = {.frequency_penalty = 1};
  asks.spec.prompt_length = 2;
  stage.hears(kRouter, asks);
  const auto penalties = [&] {
    std::vector<float> logits(20, 0.0F);
    adjust(*plan->logits_processors.at(0), logits);
    return std::vector<float>(logits.begin() + 10, logits.begin() + 15);
  };
  runs();
  EXPECT_THAT(penalties(), ElementsAre(0, 0, -1, 0, 0));
  sample_token();
  runs();
  EXPECT_THAT(penalties(), ElementsAre(0, 0, -1, -1, 0));
}

TEST_F(LogitsProcessingTest, KeepsWhatARunningStepReadsThoughItsSequenceIsGone) {
  Start asks = start();
  asks.spec.logits_params = {.frequency_penalty = 1};
  stage.hears(kRouter, asks);
  runs();
  stage.hears(kRouter, Cancel{{3, 1}, 1});
  std::vector<float> logits(20, 0.0F);
  adjust(*plan->logits_processors.at(0), logits);
  EXPECT_EQ(plan->logits_processors.at(0).use_count(), 1);
}

// The last of its row's answers is -1: nothing could be chosen.
TEST_F(LogitsProcessingTest, TellsMasksThatLeaveNoTokenFromAModelThatIsBroken) {
  Start asks = start();
  asks.spec.logits_params = {.bad_words = {{13, 13}}, .allowed = {13}};
  stage.hears(kRouter, asks);
  runs();
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.ids, std::vector<TokenId>{13});
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {-1}});
  const Tokens end = stage.says<Tokens>().message;
  EXPECT_EQ(end.finish, Finish::error);
  EXPECT_EQ(end.field, "allowed_token_ids");
  EXPECT_THAT(end.reason, HasSubstr("after the first 1 of this answer: `allowed_token_ids` and `bad_words` forbid every one"));
  EXPECT_EQ(verifier.counters().masked_rows, 1U);
  EXPECT_EQ(verifier.counters().non_finite_rows, 0U);
}

TEST_F(LogitsProcessingTest, BlamesTheModelWhereMasksLeaveATokenAndNoneCouldBeChosen) {
  Start asks = start();
  asks.spec.logits_params = {.allowed = {13}};
  stage.hears(kRouter, asks);
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {-1}});
  const Tokens end = stage.says<Tokens>().message;
  EXPECT_EQ(end.field, "");
  EXPECT_THAT(end.reason, HasSubstr("not finite"));
  EXPECT_EQ(verifier.counters().non_finite_rows, 1U);
}

TEST_F(LogitsProcessingTest, RefusesAdjustmentsOfTokensThatTheModelHasNot) {
  for (const LogitsParams& how : {LogitsParams{.bias = {{100, 1}}}, LogitsParams{.allowed = {5, 100}}}) {
    Start asks = start();
    asks.spec.logits_params = how;
    stage.hears(kRouter, asks);
    EXPECT_THAT(stage.says<Refused>().message.reason, HasSubstr("outside the model's vocabulary"));
  }
}

}  // namespace
}  // namespace slipstream
