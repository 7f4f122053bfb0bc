// What a verifier does with what steps cost: prompts in chunks that streams can wait for, trees
// that pay for themselves.
#include <deque>

#include "services/verifier/gather.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

VerifierConfig where(const CostModel& cost) {
  VerifierConfig given = config();
  given.cost = cost;
  given.cache_blocks = 512;
  return given;
}

// A stream of tokens, and the prompt of 900 that comes in beside it.
class Beside : public VerifierStage {
 protected:
  explicit Beside(const CostModel& cost) : VerifierStage(where(cost)) {
    stage.hears(kRouter, start());
    runs();
    sample_token();
    Start prompt = second();
    prompt.drafters = {};
    prompt.tokens.assign(900, 5);
    prompt.spec.prompt_length = 900;
    stage.hears(kRouter, prompt);
    runs();  // begun before it came
    sample_token();
  }
  int rows() { return runs().rows(); }
};

struct StepCostAtAMillisecondARow : Beside {
  StepCostAtAMillisecondARow() : Beside(cost_by_row(0.001)) {}
};

TEST_F(StepCostAtAMillisecondARow, APromptTakesNoMoreOfAStepThanStreamsMayWait) {
  EXPECT_EQ(rows(), int(kStallMost / 0.001)) << "the stream's row among them";
}

struct StepCostOnASlowMachine : Beside {
  StepCostOnASlowMachine() : Beside(cost_by_row(0.1)) {}
};

TEST_F(StepCostOnASlowMachine, APromptGoesOnByAFewRowsInAnyCase) { EXPECT_EQ(rows(), 1 + kPromptRowsLeast); }

struct StepCostWhereRowsAreFree : Beside {
  StepCostWhereRowsAreFree() : Beside(even_cost(0.2)) {}
};

TEST_F(StepCostWhereRowsAreFree, APromptTakesAllTheRows) { EXPECT_EQ(rows(), kCpuStepRows); }

struct StepCostOfAPromptAlone : VerifierStage {
  StepCostOfAPromptAlone() : VerifierStage(where(cost_by_row(0.1))) {}
};

TEST_F(StepCostOfAPromptAlone, APromptForWhichNobodyWaitsTakesAllTheRows) {
  Start prompt = start();
  prompt.tokens.assign(900, 5);
  prompt.spec.prompt_length = 900;
  stage.hears(kRouter, prompt);
  EXPECT_EQ(runs().rows(), kCpuStepRows);
}

// Of one drafter that is always right. nodes_max of the Advances of so many rounds.
class Drafted : public VerifierStage {
 protected:
  explicit Drafted(const CostModel& cost) : VerifierStage(where(cost)) { meet_drafter(); }
  std::vector<int> asked(int rounds) {
    Start start = second();
    start.spec.output_max = 900;
    start.lease_ms = kLeaseMsMax;
    start.spec.stop_ids = {};
    start.draft_nodes_max = start.drafters[0].tuning.nodes_max = 32;
    stage.hears(kRouter, start);
    std::vector<int> nodes;
    for (int round = 0; round < rounds; ++round) {
      if (stage.silent<Advance>()) {
        nodes.push_back(0);
      } else {
        const auto advance = stage.says<Advance>();
        nodes.push_back(advance.message.tuning.nodes_max);
        std::vector<TreeNode> chain;
        for (int i = 0; i < nodes.back(); ++i) chain.push_back({1, i - 1, .9F});
        stage.hears(kDrafter, tree(std::move(chain), advance));
      }
      const StepPlan& plan = runs();
      const double seconds = verifier.counters().step_cost[0] + row * (plan.rows() - 1);
      stage.forget();
      stage.finishes(
          StepOutput{.sampled_tokens = std::vector<TokenId>(plan.wanted.size(), 1), .forward_us = uint32_t(seconds * 1e6)});
    }
    return nodes;
  }
  double row = 0;  // what one more takes
};

struct DraftCostWhereRowsAreFree : Drafted {
  DraftCostWhereRowsAreFree() : Drafted(even_cost(0.008)) {}
};

TEST_F(DraftCostWhereRowsAreFree, TreesGrowAsLargeAsTheBackoffLets) { EXPECT_EQ(asked(12).back(), 32); }

struct DraftCostWhereRowsAreDear : Drafted {
  DraftCostWhereRowsAreDear() : Drafted(cost_by_row(0.008)) { row = 0.008; }
};

TEST_F(DraftCostWhereRowsAreDear, NothingIsAskedForButAProbeNowAndThen) {
  const auto nodes = asked(100);
  EXPECT_EQ(nodes[0], kFirstNodes) << "before the first step";
  EXPECT_LE(std::ranges::count_if(nodes, [](int each) { return each > 0; }), 3);
  EXPECT_EQ(nodes.back(), 0);
}

struct SampledTreeCost : VerifierStage {
  SampledTreeCost() : VerifierStage(where(cost_of(0.01, 0.001))) {}
};

// What is sampled may depend on nothing that can tell when it came: others that begin meanwhile
// make nodes dear, but not its own.
TEST_F(SampledTreeCost, ATreeKeepsTheBudgetThatItWasAskedWith) {
  meet_drafter();
  Start sampled = second();
  sampled.spec.sampling.temperature = 1;
  sampled.spec.acceptance = {.rule = Rule::ratio};
  stage.hears(kRouter, sampled);
  runs();
  stage.finishes(StepOutput{.rejections = {{.walk = {.accepted = {}, .emitted = {13}}}}});
  const auto advance = stage.says<Advance>();
  ASSERT_EQ(advance.message.tuning.nodes_max, kFirstNodes);
  for (uint64_t other = 0; other < 20; ++other) {
    Start plain = start();
    plain.sequence.counter = 10 + other;
    plain.tokens = {30, 31, 32};
    stage.hears(kRouter, plain);
  }
  for (int step = 0; step < 3; ++step) {
    runs();
    stage.forget();
    sample_token();
  }
  runs();  // of the others, alone
  Tree chain = tree({{14, kRoot, .9F}, {15, 0, .8F}, {16, 1, .8F}}, advance);
  for (const TokenId token : {14, 15, 16})
    chain.distributions.push_back({{token}, {static_cast<uint16_t>(kDraftDistributionTotal)}});
  chain.distributions.emplace_back();
  stage.hears(kDrafter, chain);
  sample_token();
  const VerifyPlan& plan = stage.runs();
  ASSERT_EQ(plan.rejection_tasks.size(), 1U);
  EXPECT_EQ(plan.rejection_tasks[0].tree.size(), 3);
  EXPECT_EQ(verifier.counters().fates.of(Fate::trimmed), 0U);
}

}  // namespace
}  // namespace slipstream
