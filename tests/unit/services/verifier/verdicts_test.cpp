// What a drafter is told about the tree that it sent: the target's choice after each of its rows.
#include <gmock/gmock.h>

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rows cost next to nothing, so that every node that was asked for is verified. The target says
// t + 1 after token t.
class VerdictsTest : public VerifierStage {
 protected:
  VerdictsTest() : VerifierStage(config_with(cost_of(0.008, 0.00001))) { meet_drafter(); }

  // A sequence that ends in 12, and the Advance that asks for its first tree.
  To<Advance> begins() {
    Start start = second();
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    stage.hears(kRouter, start);
    return stage.says<Advance>();
  }
  To<Advance> after_step() {
    runs();
    sample_token();
    return stage.says<Advance>();
  }
};

TEST_F(VerdictsTest, TheNextAdvanceTellsTheTargetsChoiceAfterEachRowOfTheTreeAsItWasSent) {
  const auto asked = begins();
  EXPECT_THAT(asked.message.verdicts, IsEmpty());
  stage.hears(kDrafter, tree({{50, kRoot, .4F}, {13, kRoot, .6F}, {77, 0, .3F}}, asked));
  const auto next = after_step();
  EXPECT_EQ(next.message.tokens, (std::vector<TokenId>{13, 14}));
  EXPECT_THAT(next.message.verdicts, ElementsAre(13, 51, 14, 78)) << "51 and 78 are behind a rejected node";
}

TEST_F(VerdictsTest, ANodeThatWasCutHasNone) {
  const auto asked = begins();
  ASSERT_EQ(asked.message.tuning.nodes_max, 3);
  stage.hears(kDrafter, tree({{13, kRoot, .6F}, {14, 0, .5F}, {15, 1, .4F}, {16, 2, .3F}}, asked));
  EXPECT_THAT(after_step().message.verdicts, ElementsAre(13, 14, 15, 16, kNoVerdict));
}

TEST_F(VerdictsTest, ATreeThatCameTooLateHasNone) {
  const auto asked = begins();
  stage.waits(3ms);
  runs();
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, asked));
  sample_token();
  EXPECT_THAT(stage.says<Advance>().message.verdicts, IsEmpty());
}

TEST_F(VerdictsTest, AreToldOnce) {
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, begins()));
  EXPECT_THAT(after_step().message.verdicts, ElementsAre(13, 14));
  stage.waits(3ms);  // its next tree does not come
  EXPECT_THAT(after_step().message.verdicts, IsEmpty());
}

TEST_F(VerdictsTest, ATreeWithoutNodesHasThatOnItsRoot) {
  stage.hears(kDrafter, tree({}, begins()));
  const auto next = after_step();
  EXPECT_EQ(next.message.tokens, std::vector<TokenId>{13});
  EXPECT_THAT(next.message.verdicts, ElementsAre(13));
}

TEST_F(VerdictsTest, ATreeWhoseNodesWereAllCutHasThatOnItsRoot) {
  Start start = second();
  start.draft_depth_max = 0;
  stage.hears(kRouter, start);
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, stage.says<Advance>()));
  EXPECT_THAT(after_step().message.verdicts, ElementsAre(13, kNoVerdict));
}

TEST_F(VerdictsTest, ADrafterThatForgotTheSequenceIsToldNone) {
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, begins()));
  runs();
  stage.hears(kDrafter, Attached{.drafter = 88, .fingerprint = config().fingerprint, .method = "test"});
  sample_token();
  const auto next = stage.says<Advance>();
  EXPECT_EQ(next.message.fence.base_length, 0);
  EXPECT_THAT(next.message.verdicts, IsEmpty());
}

TEST_F(VerdictsTest, UnderARejectionRuleThereAreNone) {
  Start start = second();
  start.spec.sampling.temperature = 1;
  start.spec.acceptance = {.rule = Rule::ratio};
  stage.hears(kRouter, start);
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {0}, .rejections = {{.walk = {.accepted = {}, .emitted = {13}}}}});
  const auto asked = stage.says<Advance>();
  Tree sampled = tree({{14, kRoot, .9F}}, asked);
  sampled.distributions = {{{14}, {static_cast<uint16_t>(kDraftDistributionTotal)}}, {}};
  stage.hears(kDrafter, sampled);
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {0, 0}, .rejections = {{.walk = {.accepted = {0}, .emitted = {14, 15}}}}});
  EXPECT_THAT(stage.says<Advance>().message.verdicts, IsEmpty());
}

}  // namespace
}  // namespace slipstream
