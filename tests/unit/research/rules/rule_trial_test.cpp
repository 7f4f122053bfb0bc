#include "research/rules/rule_trial.h"

#include <memory>

#include <gtest/gtest.h>

#include "common/messages/rules.h"
#include "tests/data/noisy_model.h"
#include "tests/data/own_path.h"
#include "tests/unit/common/drafting/small_lm_trial.h"

namespace slipstream {
namespace {

class RuleTrials : public testing::Test {
 protected:
  // The means over some steps of two short answers, drafted by a model of these weights.
  Measured run(Acceptance acceptance, const std::filesystem::path& drafter_weights) {
    const std::vector<std::vector<TokenId>> prompts{random_tokens(1, 7), random_tokens(2, 9)};
    auto target =
        LanguageModel::load(kTiny, make_cpu_device({}).value(), {.cache_blocks = RuleTrial::cache_blocks(prompts)}).value();
    RuleTrial trial(target, prompts);
    EXPECT_TRUE(trial.prefill_prompts());
    const auto drafter = load({.folder = drafter_weights, .siblings_max = 1});
    return trial.run(*drafter, {.acceptance = acceptance, .sampling = {.temperature = 1}, .nodes = 4, .steps = 8}).value();
  }
};

// A draft of the target's own distribution has p = q, so that no rule rejects anything.
TEST_F(RuleTrials, AcceptEveryNodeOfADrafterWithTheTargetsWeights) {
  for (const Acceptance& acceptance : {Acceptance{.rule = Rule::coupled}, *acceptance_named("ratio", {})}) {
    const Measured measured = run(acceptance, kTiny);
    EXPECT_GE(measured.accepted.count(), 8);
    EXPECT_EQ(measured.nodes.mean(), 4);
    EXPECT_EQ(measured.accepted.mean(), 4);
    EXPECT_EQ(measured.accepted.standard_error(), 0);
  }
}

TEST_F(RuleTrials, RejectSomeNodesOfADrafterWithOtherWeights) {
  const auto other = noisy_model(kTiny, own_path("noisy"), 0.5F);
  const Measured measured = run(*acceptance_named("ratio", {}), other);
  EXPECT_LT(measured.accepted.mean(), measured.nodes.mean());
  EXPECT_GT(measured.tree_bytes.mean(), 0);
}

}  // namespace
}  // namespace slipstream
