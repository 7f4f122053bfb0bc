// What drafters can and cannot do to a verifier: cost it time within a budget, never a word, a
// sequence or another's turn.
#include "services/verifier/rounds.h"

#include <algorithm>
#include <optional>
#include <span>

#include "tests/unit/services/verifier/two_drafters.h"

namespace slipstream {
namespace {

using DraftingTest = VerifierStage;
// Subjects that share this stage.
using DrafterBackoff = DraftingTest;

TEST_F(DrafterBackoff, AsksAFailingDrafterAtMostOnceInFiftySteps) {
  meet_drafter();
  const std::vector<int> asked = fail(2, 800);
  const auto late = std::ranges::count_if(asked, [](int step) { return step >= 400; });
  EXPECT_LE(late, 400 / 50);
  EXPECT_GE(late, 1);
}

TEST_F(DrafterBackoff, VerifiesFewNodesUntilSomeAreAccepted) {
  meet_drafter();
  stage.hears(kRouter, second());
  std::vector<TreeNode> right;
  for (int i = 0; i < 6; ++i) right.push_back({13 + i, i - 1, .9F});
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.message.tuning.nodes_max, kFirstNodes);
  stage.hears(kDrafter, tree(right, advance));
  EXPECT_EQ(runs().wanted.size(), 1U + kFirstNodes);
  sample_token();
  EXPECT_EQ(verifier.counters().fates.of(Fate::trimmed), 3U);
  EXPECT_EQ(stage.says<Advance>().message.tuning.nodes_max, 2 * kFirstNodes);
}

TEST_F(DraftingTest, CutsATreeThatIsDeeperThanItAskedFor) {
  meet_drafter();
  Start start = second();
  start.draft_depth_max = 2;
  stage.hears(kRouter, start);
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.message.tuning.depth_max, 2);
  stage.hears(kDrafter, tree({{13, kRoot, .9F}, {14, 0, .9F}, {15, 1, .9F}}, advance));
  EXPECT_EQ(verifier.counters().fates.of(Fate::trimmed), 1U);
  EXPECT_EQ(runs().wanted.size(), 1U + 2);
}

TEST_F(DraftingTest, TellsADrafterTheLogitsParams) {
  meet_drafter();
  Start asks = second();
  asks.spec.logits_params = {.repetition_penalty = 1.5F, .bias = {{3, 1}}};
  stage.hears(kRouter, asks);
  EXPECT_EQ(stage.says<Advance>().message.info->logits_params, asks.spec.logits_params);
}

TEST_F(DraftingTest, AttachesToNoDrafterThatIsGone) {
  stage.hears(kRouter, start({{77, "tcp://drafter"}}));
  stage.up(kDrafter);
  stage.down(kDrafter);
  stage.forget();
  stage.waits(5s);
  EXPECT_TRUE(stage.silent<Attach>());
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
  sample_token();
  EXPECT_EQ(stage.says<Tokens>().peer, kRouter);
}

TEST_F(DraftingTest, UsesTheTreeOfALongPromptInTheChunkThatHasTheRoot) {
  meet_drafter();
  Start start = second();
  start.tokens.assign(600, 10);
  start.spec.prompt_length = 600;
  stage.hears(kRouter, start);
  To<Advance> advance = stage.says<Advance>();
  runs();  // the first chunk
  stage.waits(50ms);
  stage.hears(kDrafter, tree({{11, kRoot, .9F}, {12, 0, .8F}}, advance));
  sample_token();
  runs();
  sample_token();
  EXPECT_EQ(runs().wanted.size(), 3U);
  sample_token();
  EXPECT_EQ(verifier.counters().fates.of(Fate::accepted), 2U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::late), 0U);
  EXPECT_EQ(verifier.counters().missed_deadlines(), 0U);
}

// Two sequences, so that the step waits for the other's tree while the second copy comes.
TEST_F(DraftingTest, TakesOneTreeARound) {
  meet_drafter();
  stage.hears(kRouter, second());
  Start third = second();
  third.sequence.counter = 3;
  stage.hears(kRouter, third);
  const Tree once = tree({{13, kRoot, .9F}}, stage.says<Advance>());
  stage.hears(kDrafter, once);
  stage.hears(kDrafter, once);
  EXPECT_EQ(verifier.counters().fates.of(Fate::stale), 1U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::held), 1U);
}

// Subjects that share this stage.
using DrafterLoss = TwoDraftersTest;
using DrafterExchange = TwoDraftersTest;
using DrafterRestart = TwoDraftersTest;

TEST_F(TwoDraftersTest, TheFirstDrafterOfTheListDrafts) { EXPECT_EQ(stage.says<Advance>().peer, kDrafter); }

TEST_F(DrafterLoss, NextInListTakesOver) {
  stage.says<Advance>();
  stage.down(kDrafter);
  stage.waits(5ms);
  step();
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.peer, kOther);
  EXPECT_EQ(advance.message.fence.base_length, 0) << "it knows nothing yet";
  EXPECT_TRUE(advance.message.info);
}

TEST_F(TwoDraftersTest, AnAssignMovesASequenceAtItsNextRound) {
  answers(stage.says<Advance>(), NoNodes::below_threshold);
  stage.hears(kRouter, assign(1, {kOtherRef, kFirstRef}));
  EXPECT_TRUE(stage.silent<Release>()) << "this round is still the first drafter's";
  step();
  EXPECT_EQ(stage.says<Release>().peer, kDrafter);
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(TwoDraftersTest, AnAssignWithoutItsDrafterEndsTheWaitForIt) {
  stage.says<Advance>();
  EXPECT_TRUE(stage.rests()) << "its tree is due";
  stage.hears(kRouter, assign(1, {kOtherRef}));
  EXPECT_EQ(stage.says<Release>().peer, kDrafter);
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(TwoDraftersTest, AnAssignWithoutDraftersMeansPlainDecoding) {
  stage.says<Advance>();
  stage.hears(kRouter, assign(1, {}));
  for (int i = 0; i < 5; ++i) step();
  EXPECT_TRUE(stage.silent<Advance>());
}

// The target says 1 for ever. One drafter guesses one token, the better one three: both are right.
class BetterDrafter : public TwoDraftersTest {
 protected:
  // Who was asked, round by round. From round `turns` on the better one is wrong.
  std::vector<Peer> asked(Peer better, int turns = 60) {
    stage.hears(kRouter, Cancel{{3, 1}, 1});
    stage.forget();
    Start longer = second();
    longer.spec.output_max = 900;
    longer.spec.stop_ids = {};
    longer.lease_ms = kLeaseMsMax;
    longer.drafters = {kFirstRef, kOtherRef};
    stage.hears(kRouter, longer);
    std::vector<Peer> asked;
    for (int round = 0; round < 60; ++round) {
      if (!stage.silent<Advance>()) {
        const auto advance = stage.says<Advance>();
        asked.push_back(advance.peer);
        std::vector<TreeNode> nodes{{1, kRoot, 1}};
        if (advance.peer == better && round < turns) nodes = {{1, kRoot, 1}, {1, 0, 1}, {1, 1, 1}};
        if (advance.peer == better && round >= turns) nodes = {{99, kRoot, 1}};
        stage.hears(advance.peer, tree(nodes, advance));
      }
      const size_t rows = runs().wanted.size();
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1)});
      while (!stage.silent<Tokens>()) {
        const Tokens tokens = stage.says<Tokens>().message;
        stage.hears(kRouter, Ack{tokens.sequence, 1, tokens.first_index + static_cast<int32_t>(tokens.ids.size())});
      }
    }
    return asked;
  }
  void expect_found(Peer better, Peer other) {
    const std::vector<Peer> all = asked(better);
    ASSERT_GT(all.size(), 40U);
    EXPECT_GE(std::ranges::count(all, other), kTrialAsks) << "each has its trial";
    const auto settled = std::span(all).subspan(2 * kTrialAsks + 2);
    EXPECT_EQ(std::ranges::count(settled, better), std::ssize(settled)) << "and the better one is kept";
  }
};

TEST_F(BetterDrafter, IsFoundBehindTheFirst) { expect_found(kOther, kDrafter); }
TEST_F(BetterDrafter, IsComeBackTo) { expect_found(kDrafter, kOther); }
TEST_F(BetterDrafter, IsReplacedSoonWhenItGoesWrongInTime) {
  const int turns = 40;
  const std::vector<Peer> all = asked(kOther, turns);
  const auto after = std::span(all).subspan(static_cast<size_t>(turns));
  EXPECT_GE(std::ranges::count(after, kOther), 1);
  EXPECT_LE(std::ranges::count(after, kOther), kFruitlessMost + kPatienceFirst);
  EXPECT_GE(std::ranges::count(after, kDrafter), 5) << "and the other one is kept";
}

TEST_F(TwoDraftersTest, ADrafterThatIsInTimeAndWrongMakesWay) {
  bool left = false;
  for (int round = 0; round < 12 && !left; ++round) {
    if (!stage.silent<Advance>()) {
      const auto advance = stage.says<Advance>();
      left = advance.peer == kOther;
      if (!left) stage.hears(kDrafter, tree({{99, kRoot, .9F}}, advance));
    }
    if (!left) step();
  }
  EXPECT_TRUE(left);
}

// A tuner sends one for each decision, and the second drafter may have proved better.
TEST_F(TwoDraftersTest, AnAssignOfTheSameDraftersChangesNoDrafter) {
  stage.hears(kRouter, assign(1, {kFirstRef, kOtherRef}));
  stage.says<Advance>();
  stage.down(kDrafter);
  stage.waits(5ms);
  step();
  answers(stage.says<Advance>(), NoNodes::below_threshold);
  stage.up(kDrafter);
  stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = config().fingerprint, .method = "test"});
  stage.hears(kRouter, assign(2, {tuned(kFirstRef, {.version = 2}), tuned(kOtherRef, {.version = 2})}));
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(TwoDraftersTest, AnOlderAssignIsDropped) {
  stage.says<Advance>();
  stage.hears(kRouter, assign(2, {kOtherRef}));
  stage.hears(kRouter, assign(1, {kFirstRef}));
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
  EXPECT_EQ(verifier.counters().fenced, 1);
}

TEST_F(DrafterExchange, ABusyDrafterMakesWayForTheNext) {
  answers(stage.says<Advance>(), NoNodes::busy);
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(DrafterLoss, ALeavingDrafterIsAskedNoMore) {
  answers(stage.says<Advance>(), NoNodes::leaving);
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
  EXPECT_TRUE(stage.silent<Release>()) << "it has forgotten all";
}

TEST_F(DraftingTest, RepeatsAnAttachThatIsNotAnswered) {
  stage.hears(kRouter, start({kFirstRef}));
  stage.up(kDrafter);
  stage.says<Attach>();
  stage.waits(400ms);
  EXPECT_TRUE(stage.silent<Attach>());
  stage.waits(200ms);
  stage.says<Attach>();
  stage.waits(800ms);
  EXPECT_TRUE(stage.silent<Attach>()) << "the second gap is longer";
  stage.waits(300ms);
  stage.says<Attach>();
  stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = config().fingerprint, .method = "test"});
  stage.waits(60s);
  EXPECT_TRUE(stage.silent<Attach>());
  EXPECT_EQ(verifier.counters().attaches_repeated, 2U);
}

TEST_F(DraftingTest, WarnsOfADrafterThatDoesNotFitAndSaysWhatToDo) {
  stage.hears(kRouter, start({kFirstRef}));
  stage.up(kDrafter);
  stage.forget();
  Attached other{.drafter = 77, .fingerprint = config().fingerprint, .method = "test"};
  ++other.fingerprint.tokenizer;
  stage.hears(kDrafter, other);
  const Note note = stage.does<Note>();
  EXPECT_TRUE(note.warning);
  EXPECT_NE(note.text.find("start both from the same model folder"), std::string::npos) << note.text;
  Attached leaving{.drafter = 78, .fingerprint = config().fingerprint, .method = "test", .refusal = "this drafter is leaving"};
  stage.hears(kDrafter, leaving);
  EXPECT_FALSE(stage.does<Note>().warning) << "that is as it should be";
}

TEST_F(DrafterRestart, ADrafterThatDoesNotKnowUsIsAttachedAnew) {
  stage.says<Advance>();
  const Attached stranger{.drafter = 79, .refusal = "attach first", .attach_first = true};
  stage.hears(kDrafter, stranger);
  stage.hears(kDrafter, stranger);  // for an Advance that was on its way
  EXPECT_EQ(stage.says<Attach>().peer, kDrafter);
  EXPECT_TRUE(stage.silent<Attach>());
  stage.hears(kDrafter, Attached{.drafter = 79, .fingerprint = config().fingerprint, .method = "test"});
  stage.hears(kRouter, assign(1, {kFirstRef}));
  stage.waits(5ms);
  step();
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.peer, kDrafter);
  EXPECT_EQ(advance.message.fence.base_length, 0) << "another life knows nothing yet";
}

TEST_F(DrafterRestart, TheAttachedOfItsFormerLifeGivesWayToThatOfNow) {
  stage.forget();
  stage.down(kDrafter);
  stage.up(kDrafter);
  stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = config().fingerprint, .method = "test"});  // was on its way
  Attached now{.drafter = 80, .fingerprint = config().fingerprint, .method = "test", .refusal = "this drafter is leaving"};
  stage.hears(kDrafter, now);
  stage.waits(5ms);
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(DrafterExchange, TwoSlowDraftersAreExchangedLessAndLessOften) {
  Start longer = second();
  longer.spec.output_max = 900;
  longer.lease_ms = 600'000;
  longer.drafters = {kFirstRef, kOtherRef};
  stage.hears(kRouter, Cancel{{3, 1}, 1});
  stage.hears(kRouter, longer);
  if (stage.rests()) stage.waits(5ms);
  step();
  int beginnings = 0, asks = 0;
  for (int steps = 0; steps < 800; ++steps) {
    if (stage.rests()) stage.waits(4ms);
    const StepPlan& plan = stage.runs().step;
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(plan.wanted.size(), 1)});
    for (; !stage.silent<Advance>(); ++asks) beginnings += stage.says<Advance>().message.info.has_value() ? 1 : 0;
  }
  EXPECT_GE(beginnings, 3) << "each had more than one chance";
  EXPECT_LE(beginnings, 7);
  EXPECT_LE(asks, 40);
}

TEST_F(DrafterExchange, ANewDrafterDoesNotInheritTheBackoff) {
  for (int i = 0; i < 10; ++i) {
    if (stage.rests()) stage.waits(5ms);
    step();
    const To<Advance>* last = stage.newest<Advance>();
    if (last == nullptr || last->peer != kOther) continue;
    while (!stage.silent<Advance>()) stage.says<Advance>();
    if (stage.rests()) stage.waits(5ms);
    step();
    EXPECT_FALSE(stage.silent<Advance>()) << "asked again in the very next round";
    return;
  }
  ADD_FAILURE() << "it never got its chance";
}

TEST_F(DrafterExchange, ADrafterThatIsAlwaysLateMakesWayForTheNext) {
  int steps = 0;
  for (; steps < 20; ++steps) {
    stage.waits(5ms);
    step();
    if (const To<Advance>* last = stage.newest<Advance>(); last != nullptr && last->peer == kOther) break;
  }
  EXPECT_LT(steps, 10);
}

}  // namespace
}  // namespace slipstream
