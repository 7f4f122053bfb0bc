// What drafters can and cannot do to a verifier: cost it time within a budget, never a word, a sequence or another's turn.
#include "services/verifier/drafting.h"

#include <optional>

#include "common/speculation/wait_budget.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using DraftingTest = VerifierStage;

TEST_F(DraftingTest, AsksAFailingDrafterAtMostOnceInFiftySteps) {
  meet_drafter();
  const std::vector<int> asked = fail(2, 800);
  const auto late = std::ranges::count_if(asked, [](int step) { return step >= 400; });
  EXPECT_LE(late, 400 / 50);
  EXPECT_GE(late, 1);
  EXPECT_EQ(verifier.counters().received, fates());
}

TEST_F(DraftingTest, VerifiesFewNodesUntilSomeAreAccepted) {
  meet_drafter();
  stage.hears(kRouter, second());
  std::vector<TreeNode> right;
  for (int i = 0; i < 6; ++i) right.push_back({13 + i, i - 1, .9F});
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.message.tuning.nodes_max, kFirstNodes);
  stage.hears(kDrafter, tree(right, advance));
  EXPECT_EQ(runs().wanted.size(), 1U + kFirstNodes);
  choose();
  EXPECT_EQ(verifier.counters().trimmed, 3U);
  EXPECT_EQ(stage.says<Advance>().message.tuning.nodes_max, 2 * kFirstNodes);
}

TEST_F(DraftingTest, TakesNoOrdersFromADrafter) {
  meet_drafter();
  stage.hears(kRouter, second());
  const SequenceId id = second().sequence;
  Start theft = second();
  theft.epoch = 2;
  stage.hears(kDrafter, Drain{"hostile"});
  stage.hears(kDrafter, Cancel{id, 1});
  EXPECT_TRUE(stage.silent<Leaving>());
  EXPECT_EQ(verifier.counters().live, 1U);
  stage.hears(kDrafter, theft);
  EXPECT_TRUE(stage.silent<Accepted>() || stage.says<Accepted>().peer == kRouter);
  EXPECT_EQ(stage.does<Disconnect>().peer, kDrafter) << "three are enough";
  EXPECT_EQ(verifier.counters().sequences_replaced, 0U);
  stage.waits(3ms);
  runs();
  choose();
  EXPECT_EQ(stage.says<Tokens>().peer, kRouter);
}

TEST_F(DraftingTest, UsesTheTreeOfALongPromptInTheChunkThatHasTheRoot) {
  meet_drafter();
  Start start = second();
  start.tokens.assign(600, 10);
  start.prompt_length = 600;
  stage.hears(kRouter, start);
  To<Advance> advance = stage.says<Advance>();
  runs();  // the first chunk
  stage.waits(50ms);
  stage.hears(kDrafter, tree({{11, kRoot, .9F}, {12, 0, .8F}}, advance));
  choose();
  runs();
  choose();
  EXPECT_EQ(runs().wanted.size(), 3U);
  choose();
  EXPECT_EQ(verifier.counters().accepted, 2U);
  EXPECT_EQ(verifier.counters().late, 0U);
  EXPECT_EQ(verifier.counters().missed_deadlines, 0U);
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
      start.output_max = 900;
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
    stage.finishes(Choices{.chosen = std::vector<TokenId>(plan->wanted.size(), 1), .forward_us = 8000});
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
  EXPECT_LE(waited_share_of_steps(std::nullopt), kWaitShare + kCredit);
  EXPECT_GT(verifier.counters().waited_seconds, 0);
}

TEST_P(DraftWait, ForOneThatSaysNothingJustBeforeEachDeadlineStaysWithinTheBudget) {
  EXPECT_LE(waited_share_of_steps(2900us), kWaitShare + kCredit);
}

INSTANTIATE_TEST_SUITE_P(Sequences, DraftWait, testing::Values(1, 8, 32), testing::PrintToStringParamName());

}  // namespace
}  // namespace slipstream
