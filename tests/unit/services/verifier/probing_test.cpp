// Where no guess of a drafter pays, one is verified now and then, counted over all sequences.
#include "services/verifier/probe_clock.h"

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

TEST(ProbeClock, IsDueAfterSoManyStepsWithoutAVerifiedNode) {
  ProbeClock clock;
  for (int step = 0; step < kProbeGapSteps; ++step) {
    EXPECT_FALSE(clock.due());
    clock.stepped();
  }
  EXPECT_TRUE(clock.due());
  clock.begins();
  EXPECT_FALSE(clock.due()) << "one sequence probes at a time";
  clock.failed();
  EXPECT_TRUE(clock.due());
  clock.verified();
  EXPECT_FALSE(clock.due());
}

// A row adds a fifth of a step. The model says 1 for ever.
class Probing : public VerifierStage {
 protected:
  Probing() : VerifierStage(config_with(cost_of(0.008, 0.002))) { meet_drafter(); }

  void begins(uint64_t number, int32_t tokens) {
    Start start = second();
    start.sequence.counter = number;
    start.spec.output_max = tokens;
    start.spec.stop_ids = {};
    start.tokens = {1, 1, 1};
    start.lease_ms = kLeaseMsMax;
    stage.hears(kRouter, start);
  }
  // All that were asked for guess this token, and are sure.
  void step(TokenId guess) {
    while (!stage.silent<Advance>()) stage.hears(kDrafter, tree({{guess, kRoot, 1}}, stage.says<Advance>()));
    const size_t rows = runs().wanted.size();
    const auto forward_us = static_cast<uint32_t>(6'000 + 2'000 * rows);  // as the verifier was told
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1), .forward_us = forward_us});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  void answers(uint64_t number, int32_t tokens, TokenId guess) {
    begins(number, tokens);
    while (!stage.rests() || !stage.silent<Advance>()) step(guess);
    stage.hears(kRouter, Ack{{3, number}, 1, tokens, true});
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }
};

TEST_F(Probing, GoesOnOverShortAnswers) {
  uint64_t number = 2;
  for (; number < 42; ++number) answers(number, 10, 99);
  ASSERT_EQ(of(Fate::accepted), 0U);
  for (; number < 62; ++number) answers(number, 10, 1);
  EXPECT_GT(of(Fate::accepted), 0U) << "none of them had " << kProbeGapSteps << " steps";
}

TEST_F(Probing, IsOneSequencesBusinessAtATime) {
  for (uint64_t number = 2; number < 42; ++number) answers(number, 10, 99);
  for (uint64_t number = 50; number < 54; ++number) begins(number, 300);
  const uint64_t before = of(Fate::rejected);
  constexpr int kSteps = 160;
  for (int i = 0; i < kSteps; ++i) step(99);
  const auto most = static_cast<uint64_t>(4 * kSteps / kProbeGapSteps + 2);
  EXPECT_LE(of(Fate::rejected) - before, most);
  EXPECT_GE(of(Fate::rejected) - before, most / 2);
}

}  // namespace
}  // namespace slipstream
