// Trees of the ratio family: waited for, believed only with their distributions, judged within the
// job.
#include "services/verifier/sequence.h"
#include "services/verifier/verify_job.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

constexpr Time kDeadline = 3ms;

DraftDistribution certain(TokenId token) { return {{token}, {static_cast<uint16_t>(kDraftDistributionTotal)}}; }

class SampledTreeTest : public VerifierStage {
 protected:
  // A sequence whose first round, a plain one, is over: its prompt is in the cache, and a tree has
  // been asked for.
  void begin(Acceptance acceptance = {.rule = Rule::ratio}, SequenceId id = {3, 2}, const Tuning& tuning = {}) {
    Start start = second();
    start.sequence = id;
    start.drafters[0].tuning = tuning;
    start.spec.sampling.temperature = 1;
    start.spec.acceptance = acceptance;
    stage.hears(kRouter, start);
    EXPECT_TRUE(stage.silent<Advance>()) << "nothing is sampled that the next step might leave behind";
    stage.runs();
    finish({{.walk = {.accepted = {}, .emitted = {13}}}});
  }
  void finish(std::vector<RejectionResult> rejections) {
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(64, 0), .rejections = std::move(rejections)});
  }
  Tree chain(const To<Advance>& advance) {
    Tree sampled = tree({{14, kRoot, .9F}, {15, 0, .8F}}, advance);
    sampled.distributions = {certain(14), certain(15), {}};
    return sampled;
  }
};

TEST_F(SampledTreeTest, IsWaitedForHoweverLate) {
  meet_drafter();
  begin();
  const auto advance = stage.says<Advance>();
  EXPECT_EQ(advance.message.info->acceptance.rule, Rule::ratio);
  stage.waits(10 * kDeadline);
  EXPECT_TRUE(stage.rests());
  stage.hears(kDrafter, chain(advance));
  const VerifyPlan& plan = stage.runs();
  EXPECT_EQ(plan.step.rows(), 3);
  ASSERT_EQ(plan.rejection_tasks.size(), 1u);
  EXPECT_EQ(plan.rejection_tasks[0].tree.size(), 2);
  EXPECT_EQ(plan.rejection_tasks[0].round, advance.message.fence.round);
  EXPECT_EQ(plan.step.sampling[0].params, kLogitsOnly);
  finish({{.walk = {.accepted = {0}, .emitted = {14, 77}}}});
  stage.says<Tokens>();
  EXPECT_EQ(stage.says<Tokens>().message.ids, (std::vector<TokenId>{14, 77})) << "what the job says, whatever `chosen` has";
  EXPECT_EQ(verifier.counters().fates.of(Fate::accepted), 1U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::rejected), 1U);
}

// A drafter that stopped by what it sampled would bias the distribution.
TEST_F(SampledTreeTest, HasNoThresholdWhateverTheTuningSays) {
  meet_drafter();
  for (const Rule rule : {Rule::ratio, Rule::traversal, Rule::lenience, Rule::pareto, Rule::uniform, Rule::typical}) {
    const SequenceId id{3, 2 + static_cast<uint64_t>(rule)};
    begin({.rule = rule}, id, {.version = 8, .threshold = .5F});
    const Tuning asked = stage.says<Advance>().message.tuning;
    EXPECT_EQ(asked.version, 8U);
    EXPECT_EQ(asked.threshold, 1.0F);
    stage.hears(kRouter, Cancel{id, 1});
    stage.forget();
  }
}

TEST_F(SampledTreeTest, HoldsUpNoOtherSequence) {
  meet_drafter();
  begin();
  Start plain = start();
  plain.sequence.counter = 9;
  stage.hears(kRouter, plain);
  const VerifyPlan& plan = stage.runs();
  EXPECT_EQ(plan.step.sequences(), 1);
  EXPECT_TRUE(plan.rejection_tasks.empty());
}

TEST_F(SampledTreeTest, IsAskedForLessOftenWhereItIsLate) {
  meet_drafter();
  begin();
  int asked = 0;
  for (int step = 0; step < 12; ++step) {
    if (!stage.silent<Advance>()) {
      ++asked;
      stage.waits(2 * kDeadline);
      stage.hears(kDrafter, chain(stage.says<Advance>()));
    }
    stage.runs();
    finish({{.walk = {.accepted = {}, .emitted = {13}}}});
    stage.hears(kRouter, Ack{{3, 2}, 1, step + 2});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  EXPECT_GE(asked, 2);
  EXPECT_LE(asked, 6);
}

TEST_F(SampledTreeTest, DrafterLossMakesTheRoundPlain) {
  meet_drafter();
  begin();
  EXPECT_TRUE(stage.rests());
  stage.down(kDrafter);
  EXPECT_EQ(stage.runs().rejection_tasks[0].tree.size(), 0);
}

TEST_F(SampledTreeTest, ADrafterSilentForLongMakesTheRoundPlain) {
  meet_drafter();
  begin();
  stage.waits(kSampledWait - 1ms);
  stage.hears(kRouter, RouterHeartbeat{.router = 3});
  EXPECT_TRUE(stage.rests());
  EXPECT_EQ(verifier.counters().sampled_given_up, 0U);
  stage.waits(1ms);
  EXPECT_EQ(stage.runs().rejection_tasks[0].tree.size(), 0);
  finish({{.walk = {.accepted = {0}, .emitted = {14}}}});
  EXPECT_EQ(verifier.counters().sampled_given_up, 1U);
}

TEST_F(SampledTreeTest, IsRefusedWithoutItsDistributionsAndTheRoundIsPlain) {
  meet_drafter();
  begin();
  stage.hears(kDrafter, tree({{14, kRoot, .9F}}, stage.says<Advance>()));
  EXPECT_EQ(verifier.counters().fates.of(Fate::invalid), 1U);
  EXPECT_EQ(stage.runs().rejection_tasks[0].tree.size(), 0);
}

TEST_F(SampledTreeTest, IsAChainUnderADeclaredBias) {
  meet_drafter();
  begin({.rule = Rule::pareto, .strength = 0.1F});
  Tree forked = tree({{14, kRoot, .9F}, {15, kRoot, .8F}}, stage.says<Advance>());
  forked.distributions = {{{14, 15}, {kDraftDistributionTotal / 2, kDraftDistributionTotal / 2}}, {}, {}};
  stage.hears(kDrafter, forked);
  EXPECT_EQ(verifier.counters().fates.of(Fate::invalid), 2U);
}

TEST_F(SampledTreeTest, TellsTheBiasSpentOnTheTokensThatWereKept) {
  meet_drafter();
  begin({.rule = Rule::pareto, .strength = 0.1F});
  stage.hears(kDrafter, chain(stage.says<Advance>()));
  stage.runs();
  finish({{.walk = {.accepted = {0, 1}, .emitted = {14, kStop, 16}}, .spent = {0.25, 0.5, 0.125}}});
  stage.says<Tokens>();
  EXPECT_EQ(stage.says<Tokens>().message.report.spent, 0.75F) << "the stop token ends it";
}

// --- The job's part.

TEST(AcceptInJob, TakesTheTargetsDistributionWithTheSamplingParameters) {
  const std::vector<float> logits{2, 1, 0, -1};
  VerifyScratch scratch;
  int seen[4] = {};
  for (Round round = 0; round < 4000; ++round) {
    const RejectionTask rejection_task{
        .tree = {}, .acceptance = {.rule = Rule::ratio}, .sampling = {.temperature = 1, .top_k = 2}, .seed = 1, .round = round};
    ++seen[accept_in_job(rejection_task, {}, logits, scratch).walk.emitted.at(0)];
  }
  EXPECT_EQ(seen[2] + seen[3], 0);
  EXPECT_NEAR(seen[0], 4000 * 0.731, 120);  // 4 standard deviations
}

TEST(AcceptInJob, TakesTheTargetsDistributionAsTheStepAdjustsIt) {
  StepPlan plan;
  const int32_t logits_processor =
      plan.add_logits_processor(std::make_shared<LogitsProcessor>(LogitsParams{.frequency_penalty = 2}));
  for (int row = 0; row < 2; ++row) {
    plan.want({});
    plan.process(logits_processor, row == 0 ? 0b1 : 0b11, [](int) { return TokenId{0}; }, nullptr);
  }
  const std::vector<TreeNode> node{{0, kRoot, 1.0F}};
  OwnedDistribution all_on_it;
  all_on_it.add(0, kDraftDistributionTotal);
  const auto tree = DraftTree::make(node, {all_on_it, {}}, Replacement::without, 2);
  ASSERT_TRUE(tree) << tree.error().message;
  const std::vector<float> logits{40, 0, 1, 0};  // the node is accepted; after it 0 is one below 1, not one above
  VerifyScratch scratch;
  int zeros = 0;
  for (Round round = 0; round < 4000; ++round) {
    const RejectionTask rejection_task{
        .tree = *tree, .acceptance = {.rule = Rule::ratio}, .sampling = {}, .seed = 1, .round = round};
    const Walk walk = accept_in_job(rejection_task, plan.view(), logits, scratch).walk;
    ASSERT_EQ(walk.emitted.size(), 2U);
    zeros += walk.emitted[1] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(zeros, 4000 * 0.2689, 112);  // 4 standard deviations
}

TEST(AcceptInJob, FailsOnlyWhoseLogitsAreNotFinite) {
  const std::vector<float> logits{NAN, 1};
  VerifyScratch scratch;
  const RejectionTask rejection_task{.tree = {}, .acceptance = {.rule = Rule::traversal}, .sampling = {}};
  EXPECT_EQ(accept_in_job(rejection_task, {}, logits, scratch).walk.emitted, std::vector<TokenId>{-1});
}

}  // namespace
}  // namespace slipstream
