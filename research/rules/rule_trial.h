// Runs one acceptance rule on prompts, in one process, with the product's own parts: the drafter's
// method, and the verifier's gather, rejection task, walk and settle. It omits connections and
// waiting times.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/drafting/small_lm.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"
#include "services/verifier/verify_job.h"

namespace slipstream {

// Mean and standard error of one quantity over the steps of a trial.
class Sample {
 public:
  void add(double value);
  int count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / count_ : 0; }
  double standard_error() const;  // as if the steps were independent

 private:
  int count_ = 0;
  double sum_ = 0, squares_ = 0;
};

struct Measured {
  Sample accepted;    // accepted nodes of a step's tree; the step emits one token more
  Sample nodes;       // drafted nodes of a step's tree
  Sample tree_bytes;  // size of the Tree message
  // CPU time of acceptance: from the target's logits of a step to its tokens.
  Sample accepting_us;
  // CPU time of drafting: from rows of logits to the nodes of a tree. Measured on the target's rows
  // after the same nodes.
  Sample drafting_us;
};

struct TrialPlan {
  Acceptance acceptance;
  SamplingParams sampling;
  int siblings = 1;  // candidates in each row of a coupled tree
  int nodes = 8;     // nodes of a tree
  int steps = 100;   // at least, summed over all sequences
};

// Decodes several sequences in one batch. A sequence that ends restarts with its prompt and another
// seed. The target's cached prompts are kept between trials.
class RuleTrial {
 public:
  static constexpr int32_t kAnswerMost = 96;  // longest answer, in tokens

  RuleTrial(LanguageModel& target, std::vector<std::vector<TokenId>> prompts);
  RuleTrial(const RuleTrial&) = delete;

  static int32_t cache_blocks(std::span<const std::vector<TokenId>> prompts);
  Result<void> prefill_prompts();
  // REQUIRES: `drafter` ranks plan.siblings candidates in each row.
  Result<Measured> run(SmallLm& drafter, const TrialPlan& plan);

 private:
  std::unique_ptr<VerifierSequence> made(size_t index, GenerationSpec spec);
  void begin(size_t index, uint64_t seed, SmallLm& drafter, const TrialPlan& plan);
  Result<void> draft(SmallLm& drafter, const TrialPlan& plan);
  CachedSequence prompt_of(size_t sequence);
  std::vector<BatchSlice> gather_all();
  Result<void> step(SmallLm& drafter, const TrialPlan& plan, Measured& measured);
  Walk walk_of(const BatchSlice& slice, std::span<const TokenId> sampled_tokens, Measured& measured);
  void time_drafting(const VerifierSequence& sequence, const BatchSlice& slice, const TrialPlan& plan, Measured& measured);
  // Returns `count` rows of the slice's logits in the last step, starting at its row `first`:
  // [count, vocabulary].
  std::span<const float> rows(const BatchSlice& slice, int first, int count) const;

  LanguageModel& target_;
  CostModel cost_;
  std::vector<std::vector<TokenId>> prompts_;
  SequenceCache cache_;
  VerifierCounters counters_;
  VerifierSequences sequences_;  // [prompts]
  VerifyPlan plan_;
  VerifyScratch scratch_;
  SamplingScratch choose_, rank_;
  ChainScratch chain_;
  std::vector<TokenId> choices_;
};

}  // namespace slipstream
