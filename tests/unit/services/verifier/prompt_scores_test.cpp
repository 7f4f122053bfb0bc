// Logprobs of a prompt's tokens: computed with its rows, sent before its output, each once.
#include "services/verifier/prompt_scores.h"

#include <gmock/gmock.h>

#include "common/kv/block_pool.h"
#include "services/verifier/send_window.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A token's logprob is minus the token (verifier_stage.h). The prompt is 20, 21, ...
class PromptScoresTest : public VerifierStage {
 protected:
  static Start scored(int32_t prompt, uint64_t counter = 1) {
    Start asks = start();
    asks.sequence.counter = counter;
    asks.spec.prompt_logprobs = 1;
    asks.spec.prompt_length = prompt;
    asks.tokens.clear();
    for (int32_t i = 0; i < prompt; ++i) asks.tokens.push_back(20 + i % 70);
    return asks;
  }
  // Ends a sequence, and the step that it left behind.
  void cancel(uint64_t counter) {
    stage.hears(kRouter, Cancel{{3, counter}, 1});
    if (!stage.rests()) {
      runs();
      sample_token();
    }
    stage.forget();
  }
  static std::vector<float> of(const Tokens& message) {
    std::vector<float> logprobs;
    for (const TokenLogprob& each : message.logprobs) logprobs.push_back(each.logprob);
    return logprobs;
  }
};

TEST_F(PromptScoresTest, ComeBeforeTheFirstToken) {
  stage.hears(kRouter, scored(3));
  EXPECT_EQ(runs().rows(), 3);
  EXPECT_THAT(plan->wanted, ElementsAre(0, 1, 2));
  sample_token();
  const Tokens prompt = stage.says<Tokens>().message, output = stage.says<Tokens>().message;
  EXPECT_EQ(prompt.first_index, -2);
  EXPECT_THAT(prompt.ids, IsEmpty());
  EXPECT_THAT(of(prompt), ElementsAre(-21, -22));
  EXPECT_EQ(prompt.logprobs[0].top.size(), 1U);
  EXPECT_EQ(output.first_index, 0);
  EXPECT_THAT(output.ids, ElementsAre(23));
  EXPECT_THAT(output.logprobs, IsEmpty()) << "those of the output were not asked for";
}

// A router waits for them, and each message fits.
TEST_F(PromptScoresTest, OfALongPromptComeWithItsChunks) {
  stage.hears(kRouter, scored(600));
  int32_t next = -599;
  while (next < 0) {
    runs();
    sample_token();
    while (next < 0 && !stage.silent<Tokens>()) {
      const Tokens message = stage.says<Tokens>().message;
      EXPECT_EQ(message.first_index, next);
      EXPECT_LE(message.logprobs.size(), static_cast<size_t>(kPromptTokensSentMax));
      for (const float logprob : of(message)) EXPECT_EQ(logprob, -static_cast<float>(20 + (600 + next++) % 70));
      stage.hears(kRouter, Ack{message.sequence, 1, next});
    }
  }
  EXPECT_EQ(next, 0);
  EXPECT_EQ(stage.says<Tokens>().message.first_index, 0);
}

TEST_F(PromptScoresTest, AreSentAgainUntilTheyAreAcked) {
  stage.hears(kRouter, scored(3));
  runs();
  sample_token();
  stage.forget();
  stage.hears(kRouter, Ack{{3, 1}, 1, -1});
  EXPECT_TRUE(stage.silent<Tokens>()) << "the rest is on its way";
  stage.hears(kRouter, Ack{{3, 1}, 1, -1});
  const Tokens again = stage.says<Tokens>().message;
  EXPECT_EQ(again.first_index, -1);
  EXPECT_THAT(of(again), ElementsAre(-22));
  EXPECT_EQ(stage.says<Tokens>().message.first_index, 0);
}

// A row of the prefix cache has no logits.
TEST_F(PromptScoresTest, AreComputedThoughThePrefixIsCached) {
  stage.hears(kRouter, scored(100));
  runs();
  sample_token();
  cancel(1);
  stage.hears(kRouter, scored(100, 2));
  EXPECT_EQ(runs().rows(), 100);
  EXPECT_EQ(plan->logprobs.size(), 99U);
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.report.cached_tokens, 0U);
  Start plain = scored(100, 3);
  plain.spec.prompt_logprobs.reset();
  cancel(2);
  stage.hears(kRouter, plain);
  EXPECT_EQ(runs().rows(), 100 - 3 * kBlockTokens);
  EXPECT_THAT(plan->logprobs, IsEmpty());
}

// After a failover the router has some already, or all of them and tokens, too.
TEST_F(PromptScoresTest, GoOnWhereTheRouterStands) {
  Start rest = scored(5);
  rest.scored = 3;
  stage.hears(kRouter, rest);
  runs();
  sample_token();
  const Tokens message = stage.says<Tokens>().message;
  EXPECT_EQ(message.first_index, -2);
  EXPECT_THAT(of(message), ElementsAre(-23, -24));
  cancel(1);
  Start done = scored(5, 2);
  done.scored = 5;
  done.tokens.push_back(25);
  stage.hears(kRouter, done);
  EXPECT_THAT(runs().logprobs, IsEmpty());
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.first_index, 1);
}

TEST_F(PromptScoresTest, OfLogitsThatAreNotFiniteEndTheSequence) {
  stage.hears(kRouter, scored(3));
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {21, -1, 23}, .rejections = {}, .logprobs = std::vector<TokenLogprob>(2)});
  const Tokens end = stage.says<Tokens>().message;
  EXPECT_EQ(end.finish, Finish::error);
  EXPECT_EQ(end.first_index, -2);
  EXPECT_THAT(end.logprobs, IsEmpty());
  stage.hears(kRouter, Ack{{3, 1}, 1, -2, true});
  EXPECT_EQ(verifier.counters().live, 0U);
}

TEST_F(PromptScoresTest, OfALongPromptWithAllAlternativesAreTaken) {
  Start asks = scored(900);
  asks.spec.prompt_logprobs = kTopLogprobsMax;
  stage.hears(kRouter, asks);
  stage.says<Accepted>();
  EXPECT_EQ(GenerationSpec{.prompt_logprobs = 1}.prompt_logprobs_of(32768), kPromptLogprobsMax);
}

TEST_F(PromptScoresTest, DoNotTeachTheCostModel) {
  const auto observed = [&] { return verifier.counters().cost_error.count(); };
  const auto before = observed();
  stage.hears(kRouter, scored(3));
  runs();
  sample_token();
  EXPECT_EQ(observed(), before);
  runs();
  sample_token();
  EXPECT_EQ(observed(), before + 1);
}

}  // namespace
}  // namespace slipstream
