// A draft method inside the verifier: its trees come with the round, and are merged with those of
// the sequence's drafter.
#include <random>

#include "common/drafting/ngram.h"
#include "services/verifier/probe_clock.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

// The target says 1 for ever, which look-up finds out from the prompt.
class ResidentTest : public VerifierStage {
 protected:
  // A row adds a fifth of a step: a node must gain more than 0.2 tokens.
  ResidentTest() : VerifierStage(config_with(cost_of(0.008, 0.002)), std::make_unique<NgramMethod>()) {}

  Start repeats(std::vector<DrafterRef> drafters = {}) {
    Start start = second();
    start.drafters = std::move(drafters);
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    start.tokens = {1, 1, 1};
    start.lease_ms = kLeaseMsMax;
    return start;
  }
  int step() { return step(1); }
  int step(TokenId target) {
    const StepPlan& plan = runs();
    const auto rows = static_cast<int>(plan.wanted.size());
    const auto forward_us = static_cast<uint32_t>(8'000 + 2'000 * plan.rows());
    stage.finishes(
        StepOutput{.sampled_tokens = std::vector<TokenId>(static_cast<size_t>(rows), target), .forward_us = forward_us});
    stage.hears(kRouter, Ack{second().sequence, 1, static_cast<int32_t>(verifier.counters().output_tokens - before_)});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
    return rows;
  }
  // The tokens of meet_drafter() are another sequence's.
  void meet() {
    meet_drafter();
    before_ = verifier.counters().output_tokens;
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }

  uint64_t before_ = 0;
};

TEST_F(ResidentTest, DraftsWhereThereIsNoDrafter) {
  stage.hears(kRouter, repeats());
  EXPECT_GT(step(), 1) << "the root and guesses";
  EXPECT_TRUE(stage.silent<Advance>());
  EXPECT_GT(of(Fate::accepted), 0U);
  EXPECT_EQ(verifier.counters().draft_kinds.at(0).kind.method, "resident-ngram");
}

TEST_F(ResidentTest, AGuessOfBothCostsOneRow) {
  meet();
  Start start = repeats({{77, "tcp://drafter"}});
  start.draft_nodes_max = 1;
  stage.hears(kRouter, start);
  stage.hears(kDrafter, tree({{1, kRoot, .9F}}, stage.says<Advance>()));
  EXPECT_EQ(runs().wanted.size(), 2U);
  EXPECT_EQ(of(Fate::merged), 1U);
}

TEST_F(ResidentTest, VerifiesWhatOnlyTheDrafterGuessed) {
  meet();
  stage.hears(kRouter, repeats({{77, "tcp://drafter"}}));
  stage.hears(kDrafter, tree({{50, kRoot, .9F}}, stage.says<Advance>()));
  const StepPlan& plan = runs();
  EXPECT_NE(std::ranges::find(plan.token, 50), plan.token.end());
  EXPECT_NE(std::ranges::find(plan.token, 1), plan.token.end());
}

TEST_F(ResidentTest, ADrafterThatAddsNothingIsAskedLess) {
  meet();
  stage.hears(kRouter, repeats({{77, "tcp://drafter"}}));
  int asked = 0;
  for (int round = 0; round < 90; ++round) {
    if (!stage.silent<Advance>()) {
      ++asked;
      stage.hears(kDrafter, tree({{1, kRoot, .9F}}, stage.says<Advance>()));
    }
    step();
  }
  EXPECT_LE(asked, 60);
}

TEST_F(ResidentTest, DraftsNothingForARuleThatNeedsProbabilities) {
  Start start = repeats();
  start.spec.acceptance.rule = Rule::ratio;
  start.spec.sampling.temperature = 1;
  stage.hears(kRouter, start);
  EXPECT_EQ(runs().wanted.size(), 1U);
  EXPECT_EQ(verifier.counters().fates.received(), 0U);
}

TEST_F(ResidentTest, DraftsNothingForARequestWithoutSpeculation) {
  Start start = repeats();
  start.draft_nodes_max = 0;
  stage.hears(kRouter, start);
  EXPECT_EQ(runs().wanted.size(), 1U);
}

TEST_F(ResidentTest, RemembersAnswers) {
  Start one = repeats();
  one.spec.tenant = 7;
  one.spec.output_max = 3;
  one.tokens = {20, 21, 22};
  stage.hears(kRouter, one);
  for (const TokenId token : {50, 51, 52}) step(token);
  Start again = repeats();
  again.sequence.counter = 3;
  again.spec.tenant = 7;
  again.tokens = {30, 50, 51};
  stage.hears(kRouter, again);
  const StepPlan& plan = runs();
  EXPECT_NE(std::ranges::find(plan.token, 52), plan.token.end()) << "what followed 50 51 in the other answer";
}

// Whoever asks for so few tokens has too few steps for a probe of its own.
TEST_F(ResidentTest, ProbesOverShortAnswers) {
  const auto answers = [&](uint64_t number, int32_t tokens, TokenId target) {
    Start start = repeats();
    start.sequence.counter = number;
    start.spec.output_max = tokens;
    start.spec.prompt_length = 20;
    start.tokens.assign(20, 1);
    stage.hears(kRouter, start);
    while (!stage.rests()) step(target);
    stage.hears(kRouter, Ack{start.sequence, 1, tokens, true});
  };
  for (uint64_t number = 2; number < 80; ++number) answers(number, 2, 50);
  const uint64_t wrong = of(Fate::rejected);
  answers(80, 2, 50);
  EXPECT_EQ(of(Fate::rejected), wrong) << "nothing pays";
  EXPECT_EQ(of(Fate::accepted), 0U);
  for (uint64_t number = 100; number < 100 + kProbeGapSteps / 10; ++number) answers(number, 20, 1);
  EXPECT_GT(of(Fate::accepted), 0U);
}

TEST_F(ResidentTest, FindsOutThatItIsWrong) {
  stage.hears(kRouter, repeats());
  std::mt19937 random(3);
  int verified = 0;
  for (int round = 0; round < 400; ++round) verified += step(20 + static_cast<TokenId>(random() % 12)) - 1;
  EXPECT_LE(verified, 60);
}

}  // namespace
}  // namespace slipstream
