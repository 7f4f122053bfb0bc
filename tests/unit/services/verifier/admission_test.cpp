#include "services/verifier/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/block_pool.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr int32_t kSmallCacheBlocks = 8;

VerifierConfig small_cache() {
  VerifierConfig small = config();
  small.cache_blocks = kSmallCacheBlocks;
  small.context_max = context_that_fits(config().context_max, kSmallCacheBlocks);
  return small;
}

class SmallCacheTest : public VerifierStage {
 protected:
  SmallCacheTest() : VerifierStage(small_cache()) {}
  // What a router asks for whose client named no max_tokens.
  static Start all_that_is_left() {
    Start all = start();
    all.spec.output_max = small_cache().context_max - all.spec.prompt_length;
    return all;
  }
};

TEST(ContextThatFits, IsTheWholeContextIfTheCacheHoldsIt) {
  EXPECT_EQ(context_that_fits(1000, 34), 1000);
  EXPECT_EQ(context_that_fits(32768, 2048), 32768);
}

TEST(ContextThatFits, LeavesRoomInTheCacheForTheTreeOfTheLastStep) {
  EXPECT_EQ(context_that_fits(32768, 512), 512 * kBlockTokens - kTreeNodesMax - 1);
  EXPECT_EQ(context_that_fits(1000, 33), 33 * kBlockTokens - kTreeNodesMax - 1);
}

TEST(ContextThatFits, IsNothingInACacheThatHoldsNoMoreThanATree) { EXPECT_EQ(context_that_fits(1000, 1), 0); }

TEST_F(SmallCacheTest, AnswersToTheEndOfTheContextThatItOffers) {
  EXPECT_EQ(stage.says<Hello>().message.context_max, small_cache().context_max);
  const Start all = all_that_is_left();
  stage.hears(kRouter, all);
  stage.says<Accepted>();
  Finish finish = Finish::none;
  int32_t emitted = 0;
  while (finish == Finish::none && !stage.rests()) {
    const StepPlan& plan = stage.runs().step;
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(plan.wanted.size(), 1)});
    const Tokens tokens = stage.says<Tokens>().message;
    emitted = tokens.first_index + static_cast<int32_t>(tokens.ids.size());
    finish = tokens.finish;
    stage.hears(kRouter, Ack{all.sequence, 1, emitted});
  }
  EXPECT_EQ(finish, Finish::length);
  EXPECT_EQ(emitted, all.spec.output_max);
}

TEST_F(SmallCacheTest, RefusesOneTokenMoreThanItOffers) {
  Start more = all_that_is_left();
  ++more.spec.output_max;
  stage.hears(kRouter, more);
  const Refused refused = stage.says<Refused>().message;
  EXPECT_FALSE(refused.retry);
  EXPECT_THAT(refused.reason, HasSubstr("exceed the context of 192 tokens"));
}

TEST(SequencesThatFit, AreThoseOfTheDeviceWhereTheCacheHasRoomForThem) {
  EXPECT_EQ(sequences_that_fit(256, 256 * kSequenceTokens / kBlockTokens), 256);
  EXPECT_EQ(sequences_that_fit(256, 100 * kSequenceTokens / kBlockTokens), 100);
  EXPECT_EQ(sequences_that_fit(256, 1), kCpuSequences);
  EXPECT_EQ(sequences_that_fit(kCpuSequences, 1 << 20), kCpuSequences);
}

VerifierConfig for_sequences(int32_t count) {
  VerifierConfig made = config();
  made.sequences_max = count;
  return made;
}

class SequenceSlots : public VerifierStage {
 protected:
  static constexpr int kSlots = 3;
  SequenceSlots() : VerifierStage(for_sequences(kSlots)) {}
};

TEST_F(SequenceSlots, AreToldToRouters) { EXPECT_EQ(stage.says<Hello>().message.sequences_max, kSlots); }

TEST_F(SequenceSlots, AreAsManyAsItWasGiven) {
  for (uint64_t number = 1; number <= kSlots + 1; ++number) {
    Start another = start();
    another.sequence.counter = number;
    stage.hears(kRouter, another);
    if (number <= kSlots) stage.says<Accepted>();
  }
  const Refused refused = stage.says<Refused>().message;
  EXPECT_TRUE(refused.retry);
  EXPECT_THAT(refused.reason, HasSubstr("all sequence slots are taken"));
}

TEST(Admission, NeverAdmitsWhatTheCacheCannotHold) {
  VerifierConfig careless = config();
  careless.cache_blocks = kSmallCacheBlocks;  // but the whole context is offered
  Start start{
      .spec = {.prompt_length = 3, .sampling = {.temperature = 0}, .acceptance = {.rule = Rule::greedy}, .output_max = 190},
      .tokens = {10, 11, 12}};
  EXPECT_TRUE(why_not(start, careless).has_value());
  start.spec.output_max = 189;
  EXPECT_FALSE(why_not(start, careless).has_value());
}

// A router of another release may have another limit. 3,120 tokens with 20 alternatives
// each: 65,520 logprobs.
TEST(Admission, NeverAdmitsMoreLogprobsOfAPromptThanItsLimit) {
  VerifierConfig large = config();
  large.context_max = 8192;
  large.cache_blocks = 1024;
  Start start{
      .spec = {.prompt_length = 3120, .sampling = {.temperature = 0}, .acceptance = {.rule = Rule::greedy}, .output_max = 1},
      .tokens = std::vector<TokenId>(3120, 1)};
  start.spec.prompt_logprobs = 20;
  EXPECT_FALSE(why_not(start, large).has_value());
  start.tokens.push_back(1);
  ++start.spec.prompt_length;
  const auto refused = why_not(start, large);
  ASSERT_TRUE(refused.has_value());
  EXPECT_FALSE(refused->retry) << "no other verifier takes it";
  EXPECT_EQ(refused->reason, "the prompt has more logprobs than 65536, the limit");
}

}  // namespace
}  // namespace slipstream
