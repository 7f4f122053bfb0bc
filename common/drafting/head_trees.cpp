#include "common/drafting/head_trees.h"

#include <algorithm>
#include <utility>

#include "common/sampling/entropy.h"
#include "common/sampling/rank.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {
namespace {

struct GrowingTree {
  HeadAsk& ask;
  TreeGrowth growth;
  size_t first_wanted = 0;  // of its frontier in the pass
  bool in_pass = false;
};

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
                                                          .params = sharpened(tree.ask.sampling)});
    tree.first_wanted = static_cast<size_t>(slice.first_wanted);
    for (size_t row = tree.first_wanted; row < plan.sampling.size(); ++row) {
      extra.add(tree.ask.words, plan.sampling[row], plan.extra);
    }
  }
}

// What the acceptance head predicts of the tree's frontier; nothing if there is none.
std::vector<float> accepted(const LanguageModel& model, const GrowingTree& tree) {
  std::vector<float> chances;
  if (!model.predicts_acceptance()) return chances;
  const bool sampled = tree.ask.sampling.temperature > 0;
  for (size_t row = 0; row < tree.growth.frontier().size(); ++row) {
    chances.push_back(model.acceptance(tree.first_wanted + row, tree.growth.stated(row), sampled));
  }
  return chances;
}

// Whether the pass that read the tree's frontier is the last by its rule's bound (AdaEDL): of a
// chain, whose frontier is one row.
bool ends_by_entropy(const LanguageModel& model, const GrowingTree& tree, std::span<const float> logits) {
  if (tree.ask.rule.bound_least == 0) return false;
  const auto vocabulary = static_cast<size_t>(model.config().vocabulary);
  const float nats = entropy_of(logits.subspan(tree.first_wanted * vocabulary, vocabulary), tree.ask.sampling.temperature);
  return acceptance_bound(nats) < tree.ask.rule.bound_least;
}

}  // namespace

HeadAsk head_ask(CachedSequence& sequence, const GenerationSpec& spec, const StopRule& rule, ContextWords& words,
                 const TokenMask* draft_vocabulary) {
  if (draft_vocabulary != nullptr) words.read(sequence.tokens(), *draft_vocabulary);
  return {.base = take_base(sequence),
          .rule = rule,
          .seed = spec.seed,
          .choice = spec.choice,
          .sampling = spec.sampling,
          .words = {words.latest().begin(), words.latest().end()}};
}

Result<HeadTrees> draft_by_head(LanguageModel& model, std::vector<HeadAsk>& asks, ExtraTokens& extra, StepPlan& plan) {
  std::vector<GrowingTree> growing;
  for (HeadAsk& ask : asks) growing.push_back({.ask = ask, .growth = TreeGrowth(ask.rule)});
  HeadTrees done;
  const bool by_entropy = std::ranges::any_of(asks, [](const HeadAsk& ask) { return ask.rule.bound_least > 0; });
  const auto next = [&] { lay_out(growing, model.step_rows(), extra, plan); };
  for (next(); plan.rows() > 0; next()) {
    TRY_VOID(model.draft(plan.view()));
    ++done.passes;
    const std::span<const float> logits = by_entropy ? model.drafted_logits() : std::span<const float>();
    for (GrowingTree& tree : growing) {
      if (!tree.in_pass) continue;
      std::vector<std::span<const Ranked>> candidates;
      for (size_t row = 0; row < tree.growth.frontier().size(); ++row) {
        candidates.push_back(model.drafted(tree.first_wanted + row));
      }
      const bool last = ends_by_entropy(model, tree, logits);
      tree.growth.add(candidates, accepted(model, tree));
      if (last) tree.growth.stop();
    }
  }
  for (const GrowingTree& tree : growing) done.trees.push_back(tree.growth.tree());
  return done;
}

}  // namespace slipstream
