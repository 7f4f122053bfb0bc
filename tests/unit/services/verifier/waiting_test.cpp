// How long steps stand ready for drafts: only where it can be paid for, and hardly at all for who
// must prefill first.
#include <optional>

#include "common/speculation/wait_budget.h"
#include "services/verifier/rounds.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using WaitingTest = VerifierStage;

// A sequence whose prompt is new to the drafter, and long.
class PrefillTest : public VerifierStage {
 protected:
  PrefillTest() {
    meet_drafter();
    Start start = second();
    start.tokens.assign(kPrefillTokens, 11);
    start.tokens.push_back(12);
    start.spec.prompt_length = kPrefillTokens + 1;
    start.spec.output_max = 100;
    start.drafters[0].tuning.deadline_us = 500'000;
    stage.hears(kRouter, start);
  }
};

TEST_F(PrefillTest, APromptHardlyWaitsForTheTreeOfADrafterThatMustPrefillIt) {
  EXPECT_TRUE(stage.rests());
  stage.waits(kPrefillWait);
  EXPECT_FALSE(stage.rests());
  runs();
  sample_token();
  EXPECT_TRUE(stage.rests()) << "the next round waits as long as it can pay for";
  stage.waits(kWaitCreditMax - 2ms);
  EXPECT_TRUE(stage.rests());
  stage.waits(2ms);
  EXPECT_FALSE(stage.rests());
  EXPECT_EQ(verifier.counters().unwaited_steps, 1U);
}

// A drafter whose tree takes 15 ms: once waited for, then known to be too slow for what is left of
// the credit.
TEST_F(WaitingTest, BeginsNoWaitForATreeThatWillComeTooLateToBePaidFor) {
  meet_drafter();
  Start start = second();
  start.drafters[0].tuning.deadline_us = 500'000;
  stage.hears(kRouter, start);
  stage.waits(15ms);
  stage.hears(kDrafter, tree({{99, kRoot, .9F}}, stage.says<Advance>()));
  runs();
  sample_token();
  EXPECT_FALSE(stage.rests()) << "5 ms are left, and it takes 15";
  EXPECT_EQ(verifier.counters().unwaited_steps, 1U);
}

TEST_F(PrefillTest, ATreeThatIsLateBecauseItsDrafterPrefilledIsNoFailure) {
  stage.says<Advance>();
  stage.waits(kPrefillWait);
  runs();
  sample_token();
  EXPECT_EQ(verifier.counters().missed_deadlines(), 0U);
  stage.says<Advance>();
  stage.waits(500ms);
  runs();
  sample_token();
  EXPECT_EQ(verifier.counters().missed_deadlines(), 1U) << "two tokens are no lesson";
}

TEST_F(PrefillTest, ADrafterThatForgetsAllEachRoundIsNotPrefilling) {
  stage.says<Advance>();
  stage.waits(kPrefillWait);
  runs();
  sample_token();
  for (int round = 0; round < 2; ++round) {
    const auto advance = stage.says<Advance>();
    stage.hears(kDrafter, Resync{.sequence = advance.message.fence.sequence, .epoch = 1, .round = advance.message.fence.round});
    stage.says<Advance>();  // all of it again
    stage.waits(500ms);
    runs();
    sample_token();
  }
  EXPECT_EQ(verifier.counters().missed_deadlines(), 2U);
  EXPECT_TRUE(stage.silent<Advance>()) << "the guard has had enough";
}

VerifierConfig with_room_for_all() {
  VerifierConfig roomy = config();
  roomy.cache_blocks = 4096;
  return roomy;
}

// So many sequences that began one after the other, in steps of 8 ms.
class DraftWait : public VerifierStage, public testing::WithParamInterface<int> {
 protected:
  static constexpr int kSteps = 400;
  DraftWait() : VerifierStage(with_room_for_all()) {
    meet_drafter();
    for (int i = 0; i < GetParam(); ++i) {
      Start start = second();
      start.sequence.counter = static_cast<uint64_t>(2 + i);
      start.tokens = {1, 1, 1};
      start.spec.output_max = 900;
      start.lease_ms = kLeaseMsMax;
      stage.hears(kRouter, start);
      for (int step = 0; step < 7; ++step) this->step({});
    }
  }

  // The drafter answers after that time with no nodes; or never.
  void step(std::optional<Time> empty_after) {
    const Time began = stage.now();
    while (stage.rests()) {
      stage.waits(100us);
      if (!empty_after || stage.now() - began < *empty_after) continue;
      while (!stage.silent<Advance>()) stage.hears(kDrafter, tree({}, stage.says<Advance>()));
    }
    waited += stage.now() - began;
    runs();
    stage.forget();
    stage.waits(8ms);
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(plan->wanted.size(), 1), .forward_us = 8000});
  }
  double waited_share_of_steps(std::optional<Time> empty_after) {
    waited = {};
    for (int i = 0; i < kSteps; ++i) step(empty_after);
    return static_cast<double>(waited.count()) / (kSteps * 8000.0);
  }

  Time waited{};
};

constexpr double kCredit = static_cast<double>(kWaitCreditMax.count()) / (400 * 8000.0);

TEST_P(DraftWait, ForASilentDrafterStaysWithinTheBudget) {
  const double before = verifier.counters().draft_kinds.at(0).waited_seconds;
  EXPECT_LE(waited_share_of_steps(std::nullopt), kWaitShare + kCredit);
  const double seconds = std::chrono::duration<double>(waited).count();
  EXPECT_NEAR(verifier.counters().draft_kinds.at(0).waited_seconds - before, seconds, 0.02 * seconds);
}

TEST_P(DraftWait, ForOneThatSaysNothingJustBeforeEachDeadlineStaysWithinTheBudget) {
  EXPECT_LE(waited_share_of_steps(2900us), kWaitShare + kCredit);
}

INSTANTIATE_TEST_SUITE_P(Sequences, DraftWait, testing::Values(1, 8, 32), testing::PrintToStringParamName());

// A drafter that answers after 4 ms, half a step, with two guesses of which one is right. The model
// says 1 for ever.
class WaitingByPrice : public VerifierStage {
 protected:
  explicit WaitingByPrice(uint32_t row_us) : VerifierStage(config_with(cost_of(0.008, row_us * 1e-6))), row_us_(row_us) {
    meet_drafter();
    Start start = second();
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    start.tokens = {1, 1, 1};
    start.lease_ms = kLeaseMsMax;
    start.drafters[0].tuning.deadline_us = 500'000;
    stage.hears(kRouter, start);
  }
  // Rounds whose step waited for the tree, of so many.
  int waits_of(int rounds) {
    int waits = 0;
    for (int round = 0; round < rounds; ++round) {
      std::optional<To<Advance>> ask;
      if (!stage.silent<Advance>()) ask = stage.says<Advance>();
      if (stage.rests()) {
        ++waits;
        stage.waits(4ms);
        stage.hears(kDrafter, tree({{1, kRoot, .5F}, {5, kRoot, .5F}}, *ask));
      }
      const size_t rows = runs().wanted.size();
      const auto forward_us = static_cast<uint32_t>(8'000 + row_us_ * rows);
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1), .forward_us = forward_us});
      stage.hears(kRouter, Ack{second().sequence, 1, static_cast<int32_t>(verifier.counters().output_tokens) - 1});
      stage.hears(kRouter, RouterHeartbeat{.router = 3});
    }
    return waits;
  }

 private:
  uint32_t row_us_;
};
struct WaitingWithFreeRows : WaitingByPrice {
  WaitingWithFreeRows() : WaitingByPrice(10) {}
};
struct WaitingWithDearRows : WaitingByPrice {  // of a third of a step
  WaitingWithDearRows() : WaitingByPrice(4'000) {}
};

TEST_F(WaitingWithFreeRows, PaysForATreeThatGainsMoreThanItDelays) { EXPECT_GE(waits_of(100), 80); }

TEST_F(WaitingWithDearRows, DoesNotPayForATreeWhoseRowsCostWhatItGains) {
  waits_of(50);
  EXPECT_LE(waits_of(100), 40);
}

}  // namespace
}  // namespace slipstream
