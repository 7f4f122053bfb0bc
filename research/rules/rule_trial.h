// Answers prompts with drafts under one acceptance rule, in one process, by the product's own
// parts: the drafter's method, the verifier's gather, judge, walk and settle. Only links and waits
// are left out.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/drafting/small_lm.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"
#include "services/verifier/verify_job.h"

namespace slipstream {

// Of the steps of one trial.
class Sample {
 public:
  void add(double value);
  int count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / count_ : 0; }
  double standard_error() const;  // as of steps that have nothing to do with each other

 private:
  int count_ = 0;
  double sum_ = 0, squares_ = 0;
};

struct Measured {
  Sample accepted;     // nodes of a step's tree; one token more is emitted
  Sample nodes;        // drafted
  Sample tree_bytes;   // of the Tree message
  Sample judging_us;   // CPU time: from the target's rows of a step to its tokens
  Sample drafting_us;  // CPU time: from rows of logits to a tree's nodes, on the target's rows after the same nodes
};

struct TrialPlan {
  Acceptance acceptance;
  SamplingParams sampling;
  int siblings = 1;  // candidates a row, of a coupled tree
  int nodes = 8;     // of a tree
  int steps = 100;   // at least, of all sequences together
};

// Several sequences share each pass. One that ends begins anew with its prompt and another seed;
// what the target's cache knows of prompts is kept from trial to trial.
class RuleTrial {
 public:
  static constexpr int32_t kAnswerMost = 96;  // tokens of an answer

  RuleTrial(LanguageModel& target, std::vector<std::vector<TokenId>> prompts);
  RuleTrial(const RuleTrial&) = delete;

  static int32_t cache_blocks(std::span<const std::vector<TokenId>> prompts);
  Result<void> prefill_prompts();
  // The drafter ranks plan.siblings candidates a row.
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
  // [count, vocabulary] of the slice's rows in the last step.
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
