#include "common/drafting/head_trees.h"

#include <algorithm>
#include <utility>

#include "common/drafting/accepted_rows.h"
#include "common/drafting/growth.h"
#include "common/model/processed_row.h"
#include "common/sampling/entropy.h"
#include "common/sampling/rank.h"

namespace slipstream {
namespace {

struct Scratch {
  ChainScratch chain;
  ProcessedScratch processed;
};

struct GrowingTree {
  HeadAsk& ask;
  Growth growth;
  size_t first_wanted = 0;  // of its frontier in the pass
  bool in_pass = false;
};

// A sampled tree needs scores only. Its extra tokens are the request's words alone: kLogitsOnly has
// no noise that favours others, and the ratio family does not choose by that noise.
SamplingParams params_of(const GrowingTree& tree) {
  return tree.growth.ranked() == nullptr ? kLogitsOnly : sharpened(tree.ask.sampling);
}

// Lays out the frontiers. A tree for whose frontier a pass has no room stops growing.
void lay_out(std::vector<GrowingTree>& trees, int32_t rows_max, ExtraTokens& extra, StepPlan& plan) {
  plan.clear();
  Pass pass(plan);
  for (GrowingTree& tree : trees) {
    const auto rows = tree.growth.frontier().size();
    tree.in_pass = rows > 0 && pass.rows() + static_cast<int>(rows) <= rows_max;
    if (!tree.in_pass) {
      if (rows > 0) tree.growth.stop();
      continue;
    }
    const PassSlice slice = pass.add_tree(tree.ask.base, {.rows = tree.growth.rows(),
                                                          .first = tree.growth.rows().size() - rows,
                                                          .seed = tree.ask.seed,
                                                          .choice = tree.ask.choice,
                                                          .params = params_of(tree)});
    tree.first_wanted = static_cast<size_t>(slice.first_wanted);
    for (size_t row = tree.first_wanted; row < plan.sampling.size(); ++row) {
      extra.add(tree.ask.words, plan.sampling[row], plan.extra);
    }
  }
}

// Whether the pass that read the tree's frontier is the last by its rule's bound (AdaEDL): of a
// chain, whose frontier is one row.
bool ends_by_entropy(const LanguageModel& model, const GrowingTree& tree, std::span<const float> logits) {
  if (tree.ask.rule.bound_least == 0) return false;
  const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
  const float nats = entropy_of(logits.subspan(tree.first_wanted * vocabulary, vocabulary), tree.ask.sampling.temperature);
  return acceptance_bound(nats) < tree.ask.rule.bound_least;
}

// Adds the children of the tree's frontier, which the last pass has read. scores: [rows,
// vocabulary] of that pass, if any tree needs them. A sampled token that the request's penalties or
// masks all but forbid would be verified in vain: its logits are processed as the target's.
void grow(GrowingTree& tree, const LanguageModel& model, const Step& step, std::span<const float> scores, Scratch& scratch) {
  TreeGrowth* ranked = tree.growth.ranked();
  if (ranked == nullptr) {
    const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
    const auto logits_of = [&](size_t row) {
      const size_t wanted = tree.first_wanted + row;
      return processed(step, static_cast<int32_t>(wanted), scores.subspan(wanted * vocabulary, vocabulary), scratch.processed);
    };
    return tree.growth.sample(logits_of, sharpened(tree.ask.sampling), scratch.chain);
  }
  std::vector<std::span<const Ranked>> candidates;
  for (size_t row = 0; row < tree.growth.frontier().size(); ++row) candidates.push_back(model.drafted(tree.first_wanted + row));
  const bool last = ends_by_entropy(model, tree, scores);
  ranked->add(candidates, accepted_rows(model, *ranked, tree.first_wanted, tree.ask.sampling.temperature > 0));
  if (last) ranked->stop();
}

}  // namespace

HeadAsk head_ask(CachedSequence& sequence, const GenerationSpec& spec, const RoundKey& key, const StopRule& rule,
                 ContextWords& words, const TokenMask* draft_vocabulary) {
  if (draft_vocabulary != nullptr) words.read(sequence.tokens(), *draft_vocabulary);
  return {.base = take_base(sequence),
          .rule = rule,
          .seed = spec.seed,
          .choice = spec.choice,
          .sampling = spec.sampling,
          .acceptance = spec.acceptance,
          .epoch = key.epoch,
          .round = key.round,
          .words = {words.latest().begin(), words.latest().end()}};
}

Result<HeadTrees> draft_by_head(LanguageModel& model, std::vector<HeadAsk>& asks, ExtraTokens& extra, StepPlan& plan) {
  std::vector<GrowingTree> growing;
  for (HeadAsk& ask : asks) {
    growing.push_back(
        {.ask = ask, .growth = Growth(ask.rule, nullptr, ask.acceptance, {ask.seed, ask.choice, ask.epoch, ask.round})});
  }
  HeadTrees done;
  Scratch scratch;
  const bool scored =
      std::ranges::any_of(asks, [](const HeadAsk& ask) { return ask.rule.bound_least > 0 || is_sampled(ask.acceptance.rule); });
  const auto next = [&] { lay_out(growing, model.step_rows(), extra, plan); };
  for (next(); plan.rows() > 0; next()) {
    Step step = plan.view();
    step.logits_read = scored;
    TRY_VOID(model.draft(step));
    ++done.passes;
    const std::span<const float> scores = scored ? model.drafted_logits() : std::span<const float>();
    for (GrowingTree& tree : growing) {
      if (tree.in_pass) grow(tree, model, step, scores, scratch);
    }
  }
  for (const GrowingTree& tree : growing) done.trees.push_back(tree.growth.tree());
  return done;
}

}  // namespace slipstream
