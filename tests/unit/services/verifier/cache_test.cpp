// What a sequence finds in the cache, and what it leaves there.
#include <map>

#include <gtest/gtest.h>

#include "common/kv/block_pool.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using CacheTest = VerifierStage;
// Subjects that share this stage.
using Preemption = CacheTest;

TEST_F(Preemption, ComputesTheSequenceAnew) {
  VerifierConfig tight = config();
  tight.cache_blocks = 5;  // 160 rows: both prompts, but not both outputs
  Verifier small(tight);
  Stage<Verifier> stage(small);
  stage.up(kRouter);
  Start older = start();
  older.tokens.assign(60, 10);
  older.spec.prompt_length = 60;
  older.spec.output_max = 8;
  Start younger = older;
  younger.sequence.counter = 2;
  younger.tokens.assign(65, 20);
  younger.spec.prompt_length = 65;
  stage.hears(kRouter, older);
  stage.hears(kRouter, younger);
  std::map<uint64_t, std::vector<TokenId>> emitted;
  for (int step = 0; step < 30 && !stage.rests(); ++step) {
    const StepPlan& plan = stage.runs().step;
    StepOutput output;
    for (int32_t row : plan.wanted) output.sampled_tokens.push_back(plan.token[static_cast<size_t>(row)] + 1);
    stage.finishes(std::move(output));
    while (!stage.silent<Tokens>()) {
      const Tokens tokens = stage.says<Tokens>().message;
      auto& ids = emitted[tokens.sequence.counter];
      ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
      stage.hears(kRouter, Ack{tokens.sequence, 1, static_cast<int32_t>(ids.size())});
    }
  }
  EXPECT_GT(small.counters().preempted, 0U);
  EXPECT_EQ(emitted[1], (std::vector<TokenId>{11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(emitted[2], (std::vector<TokenId>{21, 22, 23, 24, 25, 26, 27, 28}));
}

TEST_F(CacheTest, ComputesOnlyThePrefixThatNoSequenceComputedBefore) {
  Start first = start();
  first.tokens.assign(100, 10);
  first.spec.prompt_length = 100;
  first.spec.output_max = 1;
  stage.hears(kRouter, first);
  EXPECT_EQ(runs().rows(), 100);
  sample_token();
  Start next = first;
  next.sequence.counter = 2;
  next.tokens.push_back(30);  // a chat's next turn
  next.spec.prompt_length = 101;
  stage.hears(kRouter, next);
  const StepPlan& rest = runs();
  EXPECT_EQ(rest.rows(), 101 - 3 * kBlockTokens);
  EXPECT_EQ(rest.position.front(), 3 * kBlockTokens);
  EXPECT_EQ(verifier.counters().prefix_tokens, 3U * kBlockTokens);
  stage.forget();
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().message.report.cached_tokens, 3U * kBlockTokens);
}

TEST_F(CacheTest, KeepsNoRowThatIsYetToBeMovedIntoPlace) {
  meet_drafter();
  Start long_one = second();
  long_one.tokens.assign(kBlockTokens - 1, 10);
  long_one.spec.prompt_length = kBlockTokens - 1;
  stage.hears(kRouter, long_one);
  stage.hears(kDrafter, tree({{50, kRoot, .9F}, {11, kRoot, .8F}, {12, 1, .7F}}, stage.says<Advance>()));
  runs();
  sample_token();  // 11 and 12 are accepted, and lie a row too far back
  EXPECT_EQ(stage.says<Tokens>().message.ids.size(), 3U);
  EXPECT_EQ(verifier.counters().blocks_kept, 0U);
  stage.hears(kDrafter, tree({}, stage.says<Advance>()));
  runs();
  sample_token();
  EXPECT_EQ(verifier.counters().blocks_kept, 1U);
}

}  // namespace
}  // namespace slipstream
