// A verifier on its stage, with one router and one drafter.
#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/prefix_hash.h"
#include "services/verifier/verifier.h"
#include "tests/stage/stage.h"
#include "tests/unit/services/verifier/costs.h"

namespace slipstream {

using namespace std::chrono_literals;

constexpr Peer kRouter{1};
constexpr Peer kDrafter{1ull << 32};  // the first that a verifier links to
constexpr TokenId kStop = 9;

inline VerifierConfig config() {
  return {.process = {.incarnation = 5, .routers = {"tcp://router"}},
          .fingerprint = {.tokenizer = 7, .vocabulary = 100, .eos_ids = {kStop}, .weights = 1},
          .numerics_id = "test",
          .cost = even_cost(0.008),
          .context_max = 1000,
          .cache_blocks = 64};
}

inline VerifierConfig config_with(const CostModel& cost) {
  VerifierConfig made = config();
  made.cost = cost;
  return made;
}

inline uint64_t hash_of(std::vector<TokenId> tokens) {
  PrefixHash hash;
  hash.add(tokens);
  return hash.value();
}

// A verifier whose model is a rule in the test: the token after t is t + 1.
class VerifierStage : public testing::Test {
 protected:
  explicit VerifierStage(VerifierConfig given = config(), std::unique_ptr<Method> resident = nullptr)
      : fingerprint(given.fingerprint), verifier(std::move(given), std::move(resident)), stage(verifier) {
    stage.up(kRouter);
    stage.hears(kRouter, Welcome{.router = 3, .heartbeat_ms = 100000});
  }

  static Start start(std::vector<DrafterRef> drafters = {}) {
    return {.sequence = {3, 1},
            .epoch = 1,
            .spec = {.prompt_length = 3,
                     .sampling = {.temperature = 0},
                     .acceptance = {.rule = Rule::greedy},
                     .output_max = 20,
                     .stop_ids = {kStop}},
            .tokens = {10, 11, 12},
            .drafters = std::move(drafters),
            .lease_ms = 1000};
  }

  void attach() {
    stage.up(kDrafter);
    stage.says<Attach>();
    stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = fingerprint, .method = "test"});
  }

  // Meets a drafter with a first sequence, so that the next one finds it attached; leaves nothing
  // behind.
  void meet_drafter() {
    stage.hears(kRouter, start({{77, "tcp://drafter"}}));
    attach();
    runs();
    sample_token();
    stage.hears(kRouter, Cancel{{3, 1}, 1});
    if (!stage.rests()) {
      runs();
      sample_token();
    }
    stage.forget();
  }

  Start second() {
    Start second = start({{77, "tcp://drafter"}});
    second.sequence.counter = 2;
    return second;
  }

  Tree tree(std::vector<TreeNode> nodes, const To<Advance>& advance) {
    std::vector<TokenId> held(advance.message.tokens);
    Fence fence = advance.message.fence;
    PrefixHash hash(fence.prefix_hash);
    hash.add(held);
    fence.base_length += static_cast<int32_t>(held.size());
    fence.prefix_hash = hash.value();
    return {.fence = fence, .nodes = std::move(nodes)};
  }

  // The running job's answer by the rule; a token's logprob is minus the token.
  void sample_token() {
    ASSERT_TRUE(stage.running());
    StepOutput output;
    for (int32_t row : plan->wanted) output.sampled_tokens.push_back(plan->token[static_cast<size_t>(row)] + 1);
    for (const LogprobRow& row : plan->logprobs) {
      const auto token = row.next >= 0 ? row.next : output.sampled_tokens[static_cast<size_t>(row.wanted)];
      output.logprobs.push_back({-static_cast<float>(token), {static_cast<size_t>(row.top), Logprob{token, -1}}});
    }
    stage.finishes(std::move(output));
  }
  StepPlan& runs() { return *(plan = &stage.runs().step); }
  // The model says 1 for ever, the drafter guesses 99. The steps of this sequence for which a draft
  // was asked.
  std::vector<int> fail(uint64_t sequence, int steps) {
    Start start = second();
    start.sequence.counter = sequence;
    start.spec.output_max = steps;
    start.tokens = {1, 1, 1};
    stage.hears(kRouter, start);
    std::vector<int> asked;
    for (int step = 0; step < steps; ++step) {
      if (!stage.silent<Advance>()) {
        asked.push_back(step);
        stage.hears(kDrafter, tree({{99, kRoot, .9F}}, stage.says<Advance>()));
      }
      const StepPlan& plan = stage.runs().step;
      stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(plan.wanted.size(), 1)});
      stage.hears(kRouter, Ack{start.sequence, 1, step + 1});
      stage.hears(kRouter, RouterHeartbeat{.router = 3});
    }
    return asked;
  }
  const Fingerprint fingerprint;
  Verifier verifier;
  Stage<Verifier> stage;
  StepPlan* plan = nullptr;
};

}  // namespace slipstream
