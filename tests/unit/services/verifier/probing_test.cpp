// Where no guess of a drafter pays, one is verified now and then, counted over all sequences. Where
// its guesses bring nothing, it is asked for one sequence at a time.
#include "services/verifier/probe_clock.h"

#include <set>

#include "services/verifier/drafter_links.h"
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

// By default a row adds a fifth of a step. The model says 1 for ever.
class Probing : public VerifierStage {
 protected:
  explicit Probing(uint32_t row_us = 2'000) : VerifierStage(config_with(cost_of(0.008, row_us * 1e-6))), row_us_(row_us) {
    meet_drafter();
  }

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
    while (!stage.silent<Advance>()) {
      const To<Advance> ask = stage.says<Advance>();
      if (ask.message.info) told_.insert(ask.message.fence.sequence);
      stage.hears(kDrafter, tree({{guess, kRoot, 1}}, ask));
    }
    const size_t rows = runs().wanted.size();
    const auto forward_us = static_cast<uint32_t>(8'000 - row_us_ + row_us_ * rows);  // as the verifier was told
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1), .forward_us = forward_us});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  void answers(uint64_t number, int32_t tokens, TokenId guess) {
    begins(number, tokens);
    while (!stage.rests() || !stage.silent<Advance>()) step(guess);
    stage.hears(kRouter, Ack{{3, number}, 1, tokens, true});
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }
  size_t told() const { return told_.size(); }  // sequences whose prompt the drafter has got

 private:
  uint32_t row_us_;
  std::set<SequenceId> told_;
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

class ProbingWithFreeRows : public Probing {
 protected:
  ProbingWithFreeRows() : Probing(10) {
    answers(2, 60, 99);  // it shows that it brings nothing
    before_ = told();
    for (uint64_t number = 50; number < 54; ++number) begins(number, 600);
  }
  size_t told_since(int steps, TokenId guess) {
    for (int i = 0; i < steps; ++i) step(guess);
    return told() - before_;
  }

 private:
  size_t before_ = 0;
};

TEST_F(ProbingWithFreeRows, TellsADrafterThatBringsNothingOfOneSequenceAtATime) {
  EXPECT_EQ(told_since(kTriedSteps, 99), 1U);
  EXPECT_EQ(told_since(kTriedSteps, 99), 2U);
}

TEST_F(ProbingWithFreeRows, TellsItOfAllOnceItBringsSomething) { EXPECT_EQ(told_since(kTriedSteps, 1), 4U); }

TEST_F(ProbingWithFreeRows, TriesItForTheNextThatBeginsWhenTheSequenceEnds) {
  ASSERT_EQ(told_since(kTriedSteps / 2, 99), 1U);
  stage.hears(kRouter, Cancel{{3, 50}, 1});
  EXPECT_EQ(told_since(kTriedSteps / 4, 99), 1U) << "the others are in the middle";
  begins(60, 600);
  EXPECT_EQ(told_since(1, 99), 2U);
}

TEST_F(ProbingWithFreeRows, TriesItForAnyOtherIfNoneBegins) {
  ASSERT_EQ(told_since(kTriedSteps / 2, 99), 1U);
  stage.hears(kRouter, Cancel{{3, 50}, 1});
  EXPECT_EQ(told_since(kTriedSteps / 2, 99), 2U);
}

}  // namespace
}  // namespace slipstream
