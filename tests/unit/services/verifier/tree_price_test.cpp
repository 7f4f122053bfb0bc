// Which nodes of a tree are verified: those whose calibrated survival is worth a row.
#include <gmock/gmock.h>

#include "common/speculation/draft_backoff.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

// A row adds a fifth of a step: a node must gain more than 0.2 tokens.
class TreePrice : public VerifierStage {
 protected:
  TreePrice() : VerifierStage(config_with(cost_of(0.008, 0.002))) {
    meet_drafter();
    Start long_one = second();
    long_one.spec.output_max = 900;
    long_one.spec.stop_ids = {};
    long_one.lease_ms = kLeaseMsMax;
    stage.hears(kRouter, long_one);
  }
  // The target says t + 1 after token t, and each step takes what the cost model expects.
  void step() {
    runs();
    StepOutput output;
    for (const int32_t row : plan->wanted) output.sampled_tokens.push_back((plan->token[static_cast<size_t>(row)] + 1) % 90);
    output.forward_us = static_cast<uint32_t>(8'000 + 2'000 * plan->rows());
    stage.finishes(std::move(output));
    stage.hears(kRouter, Ack{second().sequence, 1, tokens_acked_ += 30});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  // The drafter, if it was asked, guesses the next token.
  void guesses_right(float survival) {
    if (stage.silent<Advance>()) return;
    const auto advance = stage.says<Advance>();
    const auto next = static_cast<TokenId>((advance.message.tokens.back() + 1) % 90);
    stage.hears(kDrafter, tree({{next, kRoot, survival}}, advance));
  }
  uint64_t trimmed() const { return verifier.counters().fates.of(Fate::trimmed); }

  int32_t tokens_acked_ = 0;
};

TEST_F(TreePrice, OnlyNodesThatAreWorthARowAreVerified) {
  const auto advance = stage.says<Advance>();
  stage.hears(kDrafter, tree({{13, kRoot, .8F}, {50, kRoot, .1F}, {14, 0, .6F}}, advance));
  EXPECT_EQ(runs().wanted.size(), 3U) << "the root, and the two nodes that likely are right";
  EXPECT_EQ(trimmed(), 1U);
}

TEST_F(TreePrice, ADrafterThatIsSureAndWrongIsFoundOut) {
  int verified = 0;
  for (int round = 0; round < 200; ++round) {
    if (!stage.silent<Advance>()) {
      stage.hears(kDrafter, tree({{99, kRoot, 1}, {98, 0, 1}, {97, 1, 1}}, stage.says<Advance>()));
    }
    step();
    verified += static_cast<int>(plan->wanted.size()) - 1;
  }
  EXPECT_LE(verified, 30) << "its survivals are believed for a while, then probed";
  const auto& kinds = verifier.counters().draft_kinds;
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].kind.method, "test");
}

TEST_F(TreePrice, ADrafterThatIsModestAndRightIsFoundOut) {
  uint64_t cut_early = 0;
  for (int round = 0; round < 200; ++round) {
    guesses_right(.3F);
    step();
    if (round == 99) cut_early = trimmed();
  }
  EXPECT_EQ(trimmed(), cut_early) << "none is cut any more";
  EXPECT_GT(verifier.counters().fates.of(Fate::accepted), 80U);
}

// Its nodes are below the price, so none is verified but a probe, which is right.
TEST_F(TreePrice, ADrafterThatSaysLittleAndIsRightIsFoundOutByAProbe) {
  uint64_t before_probe = 1;
  for (int round = 0; round < 300; ++round) {
    guesses_right(.08F);
    step();
    if (round == kProbeGapSteps / 2) before_probe = verifier.counters().fates.of(Fate::accepted);
  }
  EXPECT_EQ(before_probe, 0U);
  EXPECT_GT(verifier.counters().fates.of(Fate::accepted), 50U);
}

TEST_F(TreePrice, AsksForNothingBelowThePrice) {
  for (int round = 0; round < 4; ++round) {
    stage.hears(kDrafter, tree({}, stage.says<Advance>()));
    step();
  }
  const float least = 1 - stage.says<Advance>().message.tuning.threshold;
  EXPECT_NEAR(least, 0.2, 0.02);
}

TEST_F(TreePrice, ATreeIsCutByNodesAndNotByWholeSets) {
  const auto advance = stage.says<Advance>();
  stage.hears(kDrafter, tree({{13, kRoot, .5F}, {50, kRoot, .05F}}, advance));
  EXPECT_EQ(runs().wanted.size(), 2U) << "one of two siblings";
}

}  // namespace
}  // namespace slipstream
