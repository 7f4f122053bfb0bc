#include "services/verifier/verify_job.h"

#include <chrono>

#include "common/speculation/accept_biased.h"

namespace slipstream {
namespace {

// The laws after a tree's rows, each made from its logits when it is asked for.
class RowLaws final : public TargetLaws {
 public:
  RowLaws(std::span<const float> logits, size_t rows, const SamplingParams& sampling, VerifyScratch& scratch)
      : logits_(logits), columns_(logits.size() / rows), sampling_(sampling), scratch_(scratch), made_(rows, false) {
    if (scratch_.laws.size() < rows) scratch_.laws.resize(rows);
  }

  Law after(int row) override {
    const auto at = static_cast<size_t>(row);
    if (!made_[at]) target_law(logits_.subspan(at * columns_, columns_), sampling_, scratch_.chain, scratch_.laws[at]);
    made_[at] = true;
    return scratch_.laws[at].view();
  }

 private:
  std::span<const float> logits_;
  size_t columns_;
  const SamplingParams& sampling_;
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

}  // namespace

Judged judge(const Judgement& judgement, std::span<const float> logits, VerifyScratch& scratch) {
  RowLaws laws(logits, static_cast<size_t>(judgement.tree.size()) + 1, judgement.sampling, scratch);
  KeyedDice dice({judgement.seed, judgement.choice, judgement.epoch, judgement.round}, NoisePurpose::accept);
  const Rule rule = judgement.acceptance.rule;
  if (rule == Rule::ratio) return {.walk = accept_ratio(judgement.tree, laws, dice, scratch.accept)};
  if (rule == Rule::traversal) return {.walk = accept_traversal(judgement.tree, laws, dice, scratch.accept)};
  BiasedWalk biased = accept_biased(judgement.tree, bias_of(judgement.acceptance), laws, dice);
  return {.walk = std::move(biased.walk), .spent = std::move(biased.spent)};
}

Result<Choices> verify_job(LanguageModel& target, const VerifyPlan& plan, VerifyScratch& scratch) {
  const auto began = std::chrono::steady_clock::now();
  TRY(const auto chosen, target.run(plan.step.view()));
  Choices choices{.chosen = {chosen.begin(), chosen.end()}, .judged = {}};
  const size_t columns = chosen.empty() ? 0 : target.logits().size() / chosen.size();
  for (const Judgement& judgement : plan.judgements) {
    const size_t rows = static_cast<size_t>(judgement.tree.size()) + 1;
    choices.judged.push_back(
        judge(judgement, target.logits().subspan(judgement.first_wanted * columns, rows * columns), scratch));
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  choices.forward_us = static_cast<uint32_t>(took.count());
  return choices;
}

}  // namespace slipstream
