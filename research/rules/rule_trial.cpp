#include "research/rules/rule_trial.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/cpu_time.h"
#include "common/base/check.h"
#include "common/wire/codec.h"
#include "services/drafter/draft_job.h"
#include "services/verifier/settle.h"

namespace slipstream {
namespace {

CostModel even_cost() {  // a flat cost, so that all rules get the same row budget
  StepTimes times;
  times.fill(1);
  return {times, {}};
}

CachedSequence* no_victim(const CachedSequence&) { return nullptr; }  // never needed: each sequence has its blocks

DraftKey key_of(size_t sequence) { return {Peer{1}, SequenceId{1, sequence + 1}}; }

size_t tree_bytes(const VerifierSequence& sequence, const DraftTree& tree) {
  const Tree message{.fence = {.sequence = sequence.identity.id,
                               .epoch = sequence.identity.epoch,
                               .round = sequence.drafting.round,
                               .base_length = sequence.context.size(),
                               .prefix_hash = sequence.context.hash().value()},
                     .nodes = {tree.nodes().begin(), tree.nodes().end()},
                     .distributions = distributions_of(tree)};
  return wire::encode(DraftMessage(message)).size();
}

bool has_children(const TokenTree& tree, int row) {
  return std::ranges::any_of(tree.nodes(), [&](const TreeNode& node) { return node.parent == row - 1; });
}

}  // namespace

void Sample::add(double value) {
  ++count_;
  sum_ += value;
  squares_ += value * value;
}

double Sample::standard_error() const {
  if (count_ < 2) return 0;
  const double variance = (squares_ - sum_ * mean()) / (count_ - 1);
  return std::sqrt(std::max(variance, 0.0) / count_);
}

RuleTrial::RuleTrial(LanguageModel& target, std::vector<std::vector<TokenId>> prompts)
    : target_(target), cost_(even_cost()), prompts_(std::move(prompts)), cache_(cache_blocks(prompts_), no_victim) {
  plan_.step.blocks_max = blocks_of_a_sequence(target.config().context_max);
  for (size_t i = 0; i < prompts_.size(); ++i) sequences_.push_back(made(i, {}));
}

// Makes a sequence that holds only its prompt.
std::unique_ptr<VerifierSequence> RuleTrial::made(size_t index, GenerationSpec spec) {
  spec.prompt_length = static_cast<int32_t>(prompts_[index].size());
  spec.output_max = kAnswerMost;
  spec.stop_ids = target_.config().eos_ids;
  return std::make_unique<VerifierSequence>(SequenceIdentity{.number = index, .id = key_of(index).sequence, .epoch = 1},
                                            std::move(spec), prompt_of(index), counters_.fates);
}

int32_t RuleTrial::cache_blocks(std::span<const std::vector<TokenId>> prompts) {
  int32_t blocks = 0;
  for (const auto& prompt : prompts) blocks += blocks_of_a_sequence(static_cast<int32_t>(prompt.size()) + kAnswerMost);
  return blocks;
}

CachedSequence RuleTrial::prompt_of(size_t sequence) {
  CachedSequence prompt(cache_.pool(), static_cast<int32_t>(prompts_[sequence].size()));
  prompt.append(prompts_[sequence]);
  return prompt;
}

std::vector<BatchSlice> RuleTrial::gather_all() {
  std::vector<VerifierSequence*> ready;
  for (const auto& sequence : sequences_) ready.push_back(sequence.get());
  const GatherLimits limits{.cost = cost_, .blocks_max = plan_.step.blocks_max, .context_max = target_.config().context_max};
  return gather(ready, limits, cache_, plan_);
}

Result<void> RuleTrial::prefill_prompts() {
  const auto prefills = [](const auto& sequence) { return !sequence->decodes(); };
  while (std::ranges::any_of(sequences_, prefills)) {
    const std::vector<BatchSlice> slices = gather_all();
    TRY_VOID(target_.run(plan_.step.view()));
    for (const BatchSlice& slice : slices) {
      CachedSequence& context = sequences_[slice.number]->context;
      context.computed(slice.rows.context_rows);
      cache_.keep(context);
    }
  }
  return {};
}

Result<Measured> RuleTrial::run(SmallLm& drafter, const TrialPlan& plan) {
  for (size_t i = 0; i < sequences_.size(); ++i) begin(i, 1000 * (i + 1) + 1, drafter, plan);
  Measured measured;
  while (measured.accepted.count() < plan.steps) {
    TRY_VOID(step(drafter, plan, measured));
  }
  return measured;
}

void RuleTrial::begin(size_t index, uint64_t seed, SmallLm& drafter, const TrialPlan& plan) {
  sequences_[index] = made(index, {.sampling = plan.sampling, .seed = seed, .acceptance = plan.acceptance});
  VerifierSequence& sequence = *sequences_[index];
  sequence.drafting.draft_nodes_max = static_cast<uint16_t>(plan.nodes);
  drafter.begin(key_of(index), drafter_part(sequence.spec));
  drafter.advance(key_of(index), sequence.context.tokens());
}

// Asks until every sequence has a tree: a drafter does not answer while it prefills a prompt.
Result<void> RuleTrial::draft(SmallLm& drafter, const TrialPlan& plan) {
  std::vector<size_t> open;
  for (const auto& sequence : sequences_) {
    ++sequence->drafting.round;
    open.push_back(sequence->identity.number);
  }
  while (!open.empty()) {
    std::vector<DraftAsk> asks;
    for (const size_t at : open) {
      const StopRule rule{.nodes_max = plan.nodes, .depth_max = std::min(plan.nodes, kTreeDepthMax)};
      asks.push_back(
          {.key = key_of(at), .rule = rule, .epoch = sequences_[at]->identity.epoch, .round = sequences_[at]->drafting.round});
    }
    TRY(auto trees, drafter.draft(asks));
    std::vector<size_t> unanswered;
    for (size_t i = 0; i < open.size(); ++i) {
      if (!trees[i]) {
        unanswered.push_back(open[i]);
      } else {
        VerifierSequence& sequence = *sequences_[open[i]];
        sequence.fates.arrive(static_cast<size_t>(trees[i]->size()));
        sequence.drafting.draft.tree = *std::move(trees[i]);
        sequence.drafting.draft.nodes_asked = plan.nodes;  // gather() reserves as many rows for a sampled tree
      }
    }
    open = std::move(unanswered);
  }
  return {};
}

Result<void> RuleTrial::step(SmallLm& drafter, const TrialPlan& plan, Measured& measured) {
  TRY_VOID(prefill_prompts());  // of sequences that restarted: the part that is not cached
  TRY_VOID(draft(drafter, plan));
  for (const auto& sequence : sequences_) {
    const DraftTree& tree = sequence->drafting.draft.tree;
    measured.nodes.add(tree.size());
    measured.tree_bytes.add(static_cast<double>(tree_bytes(*sequence, tree)));
  }
  const std::vector<BatchSlice> slices = gather_all();
  TRY(const auto sampled_tokens, target_.run(plan_.step.view()));
  for (const BatchSlice& slice : slices) {
    VerifierSequence& sequence = *sequences_[slice.number];
    time_drafting(sequence, slice, plan, measured);
    const Walk walk = walk_of(slice, sampled_tokens, measured);
    measured.accepted.add(static_cast<double>(walk.accepted.size()));
    settle(sequence, slice, walk, counters_);
    if (sequence.output.finish == Finish::error) return fail("{}", sequence.output.reason);
    if (sequence.running()) {
      drafter.advance(key_of(slice.number), walk.emitted);
    } else {
      begin(slice.number, sequence.spec.seed + 1, drafter, plan);
    }
  }
  return {};
}

std::span<const float> RuleTrial::rows(const BatchSlice& slice, int first, int count) const {
  const auto columns = static_cast<size_t>(target_.config().vocabulary);
  return target_.logits().subspan(static_cast<size_t>(slice.rows.first_wanted + first) * columns,
                                  static_cast<size_t>(count) * columns);
}

// Under coupled acceptance the model has already sampled the tokens, on its own threads. Sample
// them once more here, to time it.
Walk RuleTrial::walk_of(const BatchSlice& slice, std::span<const TokenId> sampled_tokens, Measured& measured) {
  const int count = slice.tree.size() + 1;
  const double began = cpu_microseconds();
  Walk walked;
  if (slice.rejection_task >= 0) {
    walked = accept_in_job(plan_.rejection_tasks[static_cast<size_t>(slice.rejection_task)], plan_.step.view(),
                           rows(slice, 0, count), scratch_)
                 .walk;
  } else {
    choices_.clear();
    for (int row = 0; row < count; ++row) {
      choices_.push_back(
          sample_token(rows(slice, row, 1), plan_.step.sampling[static_cast<size_t>(slice.rows.first_wanted + row)], choose_));
    }
    walked = walk(slice.tree.tokens(), choices_);
  }
  measured.accepting_us.add(cpu_microseconds() - began);
  if (slice.rejection_task < 0) {
    const auto before = sampled_tokens.subspan(static_cast<size_t>(slice.rows.first_wanted), choices_.size());
    CHECK(std::ranges::equal(choices_, before), "a row was chosen from twice, with two results");
  }
  return walked;
}

void RuleTrial::time_drafting(const VerifierSequence& sequence, const BatchSlice& slice, const TrialPlan& plan,
                              Measured& measured) {
  const Acceptance& rule = plan.acceptance;
  CounterRandom random({sequence.spec.seed, sequence.spec.choice, sequence.identity.epoch, sequence.drafting.round},
                       NoisePurpose::draft);
  std::array<Ranked, kRankedMax> ranked;
  OwnedDistribution distribution;
  double spent = 0;
  for (int row = 0; row < slice.tree.size(); ++row) {
    // A drafter computes no distribution after a leaf.
    if (!has_children(slice.tree.tokens(), row)) continue;
    const double began = cpu_microseconds();
    if (is_sampled(rule.rule)) {
      draft_distribution(rows(slice, row, 1), plan.sampling, chain_, distribution);
      SampledTreeBuilder growth({.stop = {.nodes_max = plan.nodes, .depth_max = 1},
                                 .root_children = row == 0 ? rule.root_children : rule.children,
                                 .replacement = rule.repeats ? Replacement::with : Replacement::without});
      growth.add(std::vector<TokenDistribution>{distribution.view()}, random);
    } else {
      rank(rows(slice, row, 1), plan_.step.sampling[static_cast<size_t>(slice.rows.first_wanted + row)], rank_,
           std::span(ranked).first(static_cast<size_t>(plan.siblings)));
    }
    spent += cpu_microseconds() - began;
  }
  measured.drafting_us.add(spent);
}

}  // namespace slipstream
