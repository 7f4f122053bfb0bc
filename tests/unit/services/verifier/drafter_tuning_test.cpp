// How far a drafter guesses and how long it is waited for: each by its own tuning, within what the
// request allows.
#include "services/verifier/sequence_drafting.h"
#include "tests/unit/services/verifier/two_drafters.h"

namespace slipstream {
namespace {

using DrafterTuning = TwoDraftersTest;

TEST_F(DrafterTuning, ANewOneForTheSameDraftersIsWhatTheNextAdvanceSays) {
  answers(stage.says<Advance>(), NoNodes::below_threshold);
  const Tuning news{
      .version = 9, .threshold = .25F, .nodes_max = 2, .depth_max = 1, .deadline_us = 2000, .reason = "it is often wrong"};
  stage.hears(kRouter, assign(1, {tuned(kFirstRef, news), kOtherRef}));
  step();
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.peer, kDrafter);
  EXPECT_NE(advance.message.fence.base_length, 0) << "it is the drafter that knows the sequence";
  EXPECT_EQ(advance.message.tuning, news);
  EXPECT_TRUE(stage.silent<Release>());
}

// Nothing is news about whether the drafter is good but its trees.
TEST_F(DrafterTuning, ANewOneLeavesTheBackoffAsItIs) {
  uint64_t number = 3;
  const auto asks = [&](bool retunes) {
    int asks = 0;
    Start start = this->start({kFirstRef});
    start.sequence.counter = ++number;
    start.spec.output_max = 100;
    start.spec.stop_ids = {};
    start.lease_ms = kLeaseMsMax;
    stage.hears(kRouter, start);
    for (uint32_t round = 1; round <= 60; ++round) {
      if (!stage.silent<Advance>()) {
        ++asks;
        stage.hears(kDrafter, tree({{99, kRoot, .9F}}, stage.says<Advance>()));
      }
      const size_t rows = runs().wanted.size();
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1)});
      stage.hears(kRouter, Ack{start.sequence, 1, static_cast<int32_t>(round)});
      Assign again = assign(round, {tuned(kFirstRef, {.version = round})});
      again.sequence = start.sequence;
      if (retunes) stage.hears(kRouter, again);
    }
    stage.hears(kRouter, Cancel{start.sequence, 1});
    if (!stage.rests()) step();
    stage.forget();
    return asks;
  };
  stage.hears(kRouter, Cancel{{3, 1}, 1});
  stage.forget();
  asks(false);  // from here on the drafter is known to bring nothing
  const int without = asks(false);
  EXPECT_LT(without, 30) << "it backs off";
  EXPECT_EQ(asks(true), without);
}

class ThresholdOfTheRouter : public TwoDraftersTest {
 protected:
  // Plays so many rounds of a sequence whose router stops its drafter at .25. Each tree has these
  // nodes; token 1 is the target's. Calls `asked` with each ask's round and threshold.
  template <class Asked>
  void plays(Round rounds, const std::vector<TreeNode>& nodes, const Asked& asked) {
    stage.hears(kRouter, Cancel{{3, 1}, 1});
    stage.forget();
    Start start = this->start({tuned(kFirstRef, {.threshold = .25F})});
    start.sequence.counter = 5;
    start.spec.output_max = 2 * static_cast<int32_t>(rounds);
    start.spec.stop_ids = {};
    start.lease_ms = kLeaseMsMax;
    stage.hears(kRouter, start);
    for (Round round = 1; round <= rounds; ++round) {
      if (!stage.silent<Advance>()) {
        const auto advance = stage.says<Advance>();
        asked(advance.message.fence.round, advance.message.tuning.threshold);
        if (nodes.empty()) {
          answers(advance, NoNodes::below_threshold);
        } else {
          stage.hears(kDrafter, tree(nodes, advance));
        }
      }
      const size_t rows = runs().wanted.size();
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(rows, 1)});
      while (!stage.silent<Tokens>()) emitted_ += static_cast<int32_t>(stage.says<Tokens>().message.ids.size());
      stage.hears(kRouter, Ack{start.sequence, 1, emitted_});
    }
  }

 private:
  int32_t emitted_ = 0;
};

// What h cuts is not verified: else nobody would see that it has become worth it.
TEST_F(ThresholdOfTheRouter, LetsARoundInSixteenExplore) {
  int exploring = 0, others = 0;
  plays(40, {{1, kRoot, .9F}}, [&](Round round, float threshold) {
    const bool explores = round % kExploreRounds == 0;
    EXPECT_EQ(threshold, explores ? 1.0F : .25F) << round;
    ++(explores ? exploring : others);
  });
  EXPECT_EQ(exploring, 2);
  EXPECT_GT(others, 30);
}

TEST_F(ThresholdOfTheRouter, DoesNotStopAProbe) {
  int probes = 0;
  plays(130, {}, [&](Round round, float threshold) {
    const bool probe = round > 66;  // no node was verified in kProbeGapSteps steps
    EXPECT_TRUE(threshold == 1.0F || !probe) << round;
    probes += probe && round % kExploreRounds != 0;
  });
  EXPECT_GT(probes, 1);
}

TEST_F(DrafterTuning, OfNoNodesTurnsADrafterOff) {
  answers(stage.says<Advance>(), NoNodes::below_threshold);
  stage.hears(kRouter, assign(1, {tuned(kFirstRef, {.nodes_max = 0}), kOtherRef}));
  EXPECT_EQ(stage.says<Release>().peer, kDrafter);
  step();
  EXPECT_EQ(stage.says<Advance>().peer, kOther);
}

TEST_F(DrafterTuning, IsCutToWhatItsRequestAllows) {
  stage.hears(kRouter, Cancel{{3, 1}, 1});
  stage.forget();
  Start modest = start({tuned(kFirstRef, {.nodes_max = 20, .depth_max = 20})});
  modest.sequence.counter = 2;
  modest.draft_nodes_max = 2;
  modest.draft_depth_max = 1;
  stage.hears(kRouter, modest);
  const Tuning asked = stage.says<Advance>().message.tuning;
  EXPECT_EQ(asked.nodes_max, 2);
  EXPECT_EQ(asked.depth_max, 1);
}

TEST_F(DrafterTuning, SaysHowLongAStepWaits) {
  stage.says<Advance>();
  stage.waits(3ms);
  stage.hears(kRouter, assign(1, {tuned(kFirstRef, {.deadline_us = 1000}), kOtherRef}));
  step();
  stage.says<Advance>();
  EXPECT_TRUE(stage.rests());
  stage.waits(1ms);
  EXPECT_FALSE(stage.rests());
}

}  // namespace
}  // namespace slipstream
