#include "services/verifier/verify_job.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "common/speculation/rejection/accept_biased.h"
#include "services/verifier/weighed_distributions.h"

namespace slipstream {
namespace {

// The distributions after a tree's rows, each made from its logits when it is asked for.
class RowDistributions final : public TargetDistributions {
 public:
  RowDistributions(const RejectionTask& rejection_task, const Step& step, std::span<const float> logits, VerifyScratch& scratch)
      : rejection_task_(rejection_task), step_(step), logits_(logits), scratch_(scratch) {
    const auto rows = static_cast<size_t>(rejection_task.tree.size()) + 1;
    made_.assign(rows, false);
    columns_ = logits.size() / rows;
    if (scratch_.distributions.size() < rows) scratch_.distributions.resize(rows);
  }

  TokenDistribution after(int row) override {
    const auto at = static_cast<size_t>(row);
    if (!made_[at]) {
      const auto logits = processed(step_, static_cast<int32_t>(rejection_task_.first_wanted + at),
                                    logits_.subspan(at * columns_, columns_), scratch_.processed);
      target_distribution(logits, rejection_task_.sampling, scratch_.chain, scratch_.distributions[at]);
    }
    made_[at] = true;
    return scratch_.distributions[at].view();
  }

 private:
  const RejectionTask& rejection_task_;
  const Step& step_;
  std::span<const float> logits_;
  size_t columns_ = 0;
  VerifyScratch& scratch_;
  std::vector<bool> made_;
};

Bias bias_of(const Acceptance& acceptance) {
  const auto kind = [&] {
    switch (acceptance.rule) {
      case Rule::lenience:
        return Bias::Kind::lenience;
      case Rule::uniform:
        return Bias::Kind::uniform;
      case Rule::typical:
        return Bias::Kind::typical;
      default:
        return Bias::Kind::pareto;
    }
  };
  return {.kind = kind(), .strength = acceptance.strength, .delta = acceptance.delta};
}

// [wanted] the token that the walk emits after each row, if it reaches it: what was chosen there,
// or what a rejection task emits.
std::vector<TokenId> emitted_after(const VerifyPlan& plan, const StepOutput& output) {
  std::vector<TokenId> after = output.sampled_tokens;
  for (size_t i = 0; i < plan.rejection_tasks.size(); ++i) {
    const RejectionTask& rejection_task = plan.rejection_tasks[i];
    const Walk& walk = output.rejections[i].walk;
    const auto rows =
        std::span(after).subspan(rejection_task.first_wanted, static_cast<size_t>(rejection_task.tree.size()) + 1);
    std::ranges::fill(rows, -1);
    for (size_t at = 0; at < walk.emitted.size(); ++at) {
      rows[at == 0 ? 0 : static_cast<size_t>(walk.accepted[at - 1]) + 1] = walk.emitted[at];
    }
  }
  return after;
}

// Of the rows that the walk reaches, and of context rows: a node is reached if it is the token
// after a row that is. The others' stay empty.
std::vector<TokenLogprob> read_logprobs(const StepPlan& plan, std::span<const float> logits, std::span<const TokenId> after,
                                        ChainScratch& scratch) {
  const size_t columns = logits.size() / after.size();
  std::vector<TokenLogprob> logprobs(plan.logprobs.size());
  std::vector<TokenId> follows(plan.logprobs.size(), -1);  // the token after that row, if it is reached
  for (size_t i = 0; i < plan.logprobs.size(); ++i) {
    const LogprobRow& row = plan.logprobs[i];
    const auto wanted = static_cast<size_t>(row.wanted);
    const TokenId token = plan.token[static_cast<size_t>(plan.wanted[wanted])];
    if (row.parent >= 0 && follows[static_cast<size_t>(row.parent)] != token) continue;
    follows[i] = row.next >= 0 ? row.next : after[wanted];
    logprobs[i] = logprob_of(logits.subspan(wanted * columns, columns), follows[i], row.top, scratch);
  }
  return logprobs;
}

RejectionResult accept(const RejectionTask& rejection_task, TargetDistributions& distributions, VerifyScratch& scratch) {
  CounterRandom random({rejection_task.seed, rejection_task.choice, rejection_task.epoch, rejection_task.round},
                       NoisePurpose::accept);
  const Rule rule = rejection_task.acceptance.rule;
  if (rule == Rule::ratio) return {.walk = accept_ratio(rejection_task.tree, distributions, random, scratch.accept)};
  if (rule == Rule::traversal) return {.walk = accept_traversal(rejection_task.tree, distributions, random, scratch.accept)};
  BiasedWalk biased = accept_biased(rejection_task.tree, bias_of(rejection_task.acceptance), distributions, random);
  return {.walk = std::move(biased.walk), .spent = std::move(biased.spent)};
}

}  // namespace

RejectionResult accept_in_job(const RejectionTask& rejection_task, const Step& step, std::span<const float> logits,
                              VerifyScratch& scratch) {
  RowDistributions distributions(rejection_task, step, logits, scratch);
  return accept(rejection_task, distributions, scratch);
}

Result<std::vector<RejectionResult>> accept_all(LanguageModel& target, const Step& step, std::span<const RejectionTask> tasks,
                                                VerifyScratch& scratch) {
  WeighedRows weighed;
  RowWeigher* weigher = target.weigher();
  if (weigher != nullptr) {
    TRY(weighed, weigh(*weigher, step, tasks));
  }
  const auto columns = static_cast<size_t>(target.config().vocabulary);
  std::vector<RejectionResult> results;
  size_t first = 0;  // among the weighed rows
  for (const RejectionTask& task : tasks) {
    const size_t rows = static_cast<size_t>(task.tree.size()) + 1;
    if (weigher == nullptr || needs_whole_rows(task)) {
      results.push_back(
          accept_in_job(task, step, target.logits().subspan(task.first_wanted * columns, rows * columns), scratch));
      continue;
    }
    WeighedDistributions distributions(*weigher, weighed, first, task);
    results.push_back(accept(task, distributions, scratch));
    TRY_VOID(distributions.status());
    first += rows;
  }
  return results;
}

namespace {

Result<StepOutput> verify(LanguageModel& target, const VerifyPlan& plan, VerifyScratch& scratch) {
  Step step = plan.step.view();
  step.logits_read = !plan.rejection_tasks.empty() || !plan.step.logprobs.empty();
  TRY(const auto sampled_tokens, target.run(step));
  StepOutput output{.sampled_tokens = {sampled_tokens.begin(), sampled_tokens.end()}, .rejections = {}, .logprobs = {}};
  output.near_ties.assign(target.near_ties().begin(), target.near_ties().end());
  TRY(output.rejections, accept_all(target, step, plan.rejection_tasks, scratch));
  if (!plan.step.logprobs.empty()) {
    output.logprobs = read_logprobs(plan.step, target.logits(), emitted_after(plan, output), scratch.chain);
  }
  if (!plan.feature_slots.empty()) TRY_VOID(target.read_features(plan.feature_slots, output.features));
  return output;
}

Result<StepOutput> draft(LanguageModel& target, VerifyPlan& plan, VerifyScratch& scratch) {
  StepOutput output;
  TRY(output.head, draft_by_head(target, plan.head_asks, scratch.extra, plan.step));
  return output;
}

}  // namespace

Result<StepOutput> verify_job(LanguageModel& target, VerifyPlan& plan, VerifyScratch& scratch) {
  const auto began = std::chrono::steady_clock::now();
  TRY(StepOutput output, plan.head_asks.empty() ? verify(target, plan, scratch) : draft(target, plan, scratch));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  output.forward_us = static_cast<uint32_t>(took.count());
  return output;
}

}  // namespace slipstream
