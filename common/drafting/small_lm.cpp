#include "common/drafting/small_lm.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/drafting/accepted_rows.h"
#include "common/drafting/draft_model.h"
#include "common/drafting/make_method.h"
#include "common/speculation/verdicts.h"

namespace slipstream {
namespace {

// The rows of the tree on which the emitted tokens lie, from the root down. Only forwarded rows
// have K/V, and only those are in `tree`.
std::vector<int32_t> accepted(std::span<const TreeRow> tree, std::span<const TokenId> tokens) {
  std::vector<int32_t> path;
  for (const TokenId token : tokens) {
    const int32_t parent = path.empty() ? 0 : path.back();
    const auto taken =
        std::ranges::find_if(tree, [&](const TreeRow& row) { return row.parent == parent && row.token == token; });
    if (taken == tree.end()) break;
    path.push_back(static_cast<int32_t>(taken - tree.begin()));
  }
  return path;
}

}  // namespace

SmallLm::SmallLm(LanguageModel model, const SmallLmOptions& options)
    : model_(std::move(model)),
      name_(options.name),
      vocabulary_(options.vocabulary),
      siblings_max_(options.siblings_max),
      cache_(model_.cache_blocks(), [this](const CachedSequence&) { return longest_idle(); }) {
  plan_.blocks_max = blocks_of_a_sequence(model_.config().context_max);
}

Result<std::unique_ptr<SmallLm>> SmallLm::load(const SmallLmOptions& options) {
  CHECK(options.vocabulary > 0, "a target has tokens");
  if (options.siblings_max < 1 || options.siblings_max > kSiblingsMax) {
    return fail("{} siblings a node were asked for; 1 to {} are possible", options.siblings_max, kSiblingsMax);
  }
  TRY(LanguageModel model, LanguageModel::load(options.folder, options.device,
                                               {.cache_blocks = options.cache_tokens / kBlockTokens,
                                                .cache_bytes = options.cache_bytes,
                                                .fine_rows = options.fine_rows,
                                                .ranked = options.siblings_max,
                                                .acceptance = true,
                                                .on_load = log_load()}));
  return std::unique_ptr<SmallLm>(new SmallLm(std::move(model), options));
}

void SmallLm::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_.insert_or_assign(
      key,
      Sequence{.spec = spec, .context = CachedSequence(cache_.pool(), spec.prompt_length, spec.logits_params, spec.tenant)});
}

// If the new tokens follow rows of the last tree, the K/V of those rows is in the cache already,
// unless the sequence was evicted since: commit() keeps it.
void SmallLm::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Sequence& sequence = sequences_.at(key);
  const auto known = [&](TokenId token) { return token < model_.config().vocabulary; };
  sequence.foreign = sequence.foreign || !std::ranges::all_of(tokens, known);
  const bool has_tree = !sequence.forwarded.empty() && sequence.context.holds_blocks();
  if (has_tree) {
    sequence.context.commit(accepted(sequence.forwarded, tokens), tokens);
  } else {
    sequence.context.append(tokens);
  }
  sequence.forwarded.clear();
  sequence.proposed.clear();
}

void SmallLm::learn(const DraftKey& key, std::span<const TokenId> verdicts) {
  Sequence& sequence = sequences_.at(key);
  if (verdicts.size() != sequence.drafted_nodes + 1) return;
  const auto proposed = std::exchange(sequence.proposed, {});
  slipstream::learn(proposed, verdicts, calibrations_.of(sequence.spec.acceptance.rule), work_.learnt);
}

MethodWork SmallLm::work() const {
  MethodWork work = work_;
  work.evictions = cache_.sequences_evicted();
  return work;
}

// Linear in the sequences, but called only when the cache is full. Sequences of the present job are
// spared: their blocks are in use.
CachedSequence* SmallLm::longest_idle() {
  Sequence* longest = nullptr;
  for (auto& [key, other] : sequences_) {
    if (other.job == job_ || !other.context.holds_blocks()) continue;
    if (longest == nullptr || other.job < longest->job) longest = &other;
  }
  return longest == nullptr ? nullptr : &longest->context;
}

// Prepares the tree of an ask: context in the cache as far as it is known, and room for the tree.
// Nullopt: there is nothing to draft (no tokens, unknown tokens, a rule that allows no node) or no
// room; the ask gets an empty tree.
std::optional<SmallLm::GrowingTree> SmallLm::begin_tree(const DraftAsk& ask) {
  Sequence& sequence = sequences_.at(ask.key);
  CachedSequence& context = sequence.context;
  StopRule rule = ask.rule;
  rule.depth_max = std::min(rule.depth_max, model_.config().context_max - 1 - context.root());  // positions left
  const GenerationSpec& spec = sequence.spec;
  GrowingTree tree{.sequence = &sequence,
                   .growth = Growth(rule, &calibrations_.of(spec.acceptance.rule), spec.acceptance,
                                    {spec.seed, spec.choice, ask.epoch, ask.round}),
                   .slice = {}};
  if (context.size() == 0 || sequence.foreign || tree.growth.frontier().empty()) return std::nullopt;
  if (!context.holds_blocks()) {
    sequence.forwarded.clear();
    work_.prefix_tokens += static_cast<uint64_t>(cache_.adopt(context));
  }
  // Room for the largest tree, so that no later level has to evict anything.
  if (!cache_.reserve(context, context.root() + 1 + kTreeNodesMax, MayEvict::sequences)) return std::nullopt;
  context.recompute_root();
  sequence.forwarded.clear();
  return tree;
}

// A tree whose root was not forwarded keeps its Draft at nullopt: the drafter asks again. After an
// error the caches of all sequences of the job are in an unknown state and are forgotten.
Result<std::vector<Draft>> SmallLm::draft(std::span<const DraftAsk> asks) {
  ++job_;  // before longest_idle() may be called: sequences of this job are not evicted
  for (const DraftAsk& ask : asks) sequences_.at(ask.key).job = job_;
  std::vector<Draft> drafts(asks.size());
  std::vector<GrowingTree> trees;
  for (size_t i = 0; i < asks.size(); ++i) {
    auto tree = begin_tree(asks[i]);
    if (tree) {
      tree->ask = i;
      trees.push_back(*std::move(tree));
    } else {
      drafts[i] = DraftTree();
    }
  }
  Result<void> done = prefill(trees);
  if (done) done = grow(trees);
  if (!done) {
    for (GrowingTree& tree : trees) tree.sequence->context.forget();
    return std::unexpected(done.error());
  }
  for (GrowingTree& tree : trees) {
    cache_.keep(tree.sequence->context);
    if (tree.drafts) drafts[tree.ask] = end_tree(tree);
  }
  return drafts;
}

// Notes what its verdicts will be about, and which rows the emitted tokens may follow.
DraftTree SmallLm::end_tree(const GrowingTree& tree) {
  Sequence& sequence = *tree.sequence;
  sequence.forwarded.assign(tree.growth.rows().begin(), tree.growth.rows().end());
  sequence.proposed.clear();
  if (const TreeGrowth* ranked = tree.growth.ranked()) sequence.proposed = ranked->proposed();
  DraftTree drafted = tree.growth.tree();
  sequence.drafted_nodes = static_cast<size_t>(drafted.size());
  return drafted;
}

// The first pass. First the sequences that miss few rows, with their roots: they draft in this job.
// The remaining rows prefill the other sequences. Those do not get their roots even if they become
// complete: their verifier has likely stopped waiting, and the next ask may want another tree.
Result<void> SmallLm::prefill(std::vector<GrowingTree>& trees) {
  plan_.clear();
  const auto missing = [](const GrowingTree& tree) { return tree.sequence->context.prefill_rows(); };
  for (GrowingTree& tree : trees) {
    const int32_t rows = missing(tree);
    if (rows <= kPrefillRowsBeside && plan_.rows() + rows + 1 <= model_.step_rows()) add_frontier(tree, rows);
  }
  int32_t left = std::min(plan_.rows() > 0 ? kPrefillRowsBeside : kPrefillRows, model_.step_rows() - plan_.rows());
  for (GrowingTree& tree : trees) {
    if (missing(tree) <= kPrefillRowsBeside || left == 0) continue;
    const int32_t rows = std::min(missing(tree), left);
    tree.slice = pass_.add_context(tree.sequence->context, rows);
    left -= rows;
  }
  return run(trees);
}

// The further levels, one pass each, until no tree grows. If a level has more rows than a pass
// holds, the less urgent trees stop growing.
Result<void> SmallLm::grow(std::vector<GrowingTree>& trees) {
  while (true) {
    plan_.clear();
    for (GrowingTree& tree : trees) {
      const auto rows = static_cast<int>(tree.growth.frontier().size());
      if (!tree.drafts || rows == 0) continue;
      if (plan_.rows() + rows <= model_.step_rows()) {
        add_frontier(tree, 0);
      } else {
        tree.growth.stop();
      }
    }
    if (plan_.rows() == 0) return {};
    TRY_VOID(run(trees));
  }
}

// Adds the frontier of a tree to the pass. Earlier rows of the tree are in the cache. A sampled
// tree needs logits only, not ranked tokens.
void SmallLm::add_frontier(GrowingTree& tree, int32_t context_rows) {
  const GenerationSpec& spec = tree.sequence->spec;
  tree.in_pass = true;
  tree.slice = pass_.add_tree(tree.sequence->context, context_rows,
                              {.rows = tree.growth.rows(),
                               .first = tree.growth.rows().size() - tree.growth.frontier().size(),
                               .seed = spec.seed,
                               .choice = spec.choice,
                               .params = tree.growth.ranked() != nullptr ? spec.sampling : kLogitsOnly});
}

// Runs the pass and adds the children of every frontier that was in it.
Result<void> SmallLm::run(std::vector<GrowingTree>& trees) {
  if (plan_.rows() == 0) return {};
  ++work_.passes;
  work_.rows += static_cast<uint64_t>(plan_.rows());
  TRY_VOID(model_.run(plan_.view()));
  for (GrowingTree& tree : trees) {
    if (!tree.slice) continue;
    const bool with_root = tree.in_pass && !tree.drafts;  // the first frontier is the root, which is context
    tree.sequence->context.computed(tree.slice->context_rows + (with_root ? 1 : 0));
    if (std::exchange(tree.in_pass, false)) {
      tree.drafts = true;
      if (TreeGrowth* ranked = tree.growth.ranked()) {
        rank_children(*ranked, static_cast<size_t>(tree.slice->first_wanted), tree.sequence->spec.sampling.temperature > 0);
      } else {
        sample_children(tree);
      }
    }
    tree.slice.reset();
  }
  return {};
}

// Drops candidates that the target does not have: a draft model may pad its vocabulary differently.
void SmallLm::rank_children(TreeGrowth& growth, size_t first_wanted, bool sampled) {
  const size_t rows = growth.frontier().size();
  std::vector<Ranked> known;                                 // tokens that the target has
  known.reserve(rows * static_cast<size_t>(siblings_max_));  // spans point into it: it must not grow
  std::vector<std::span<const Ranked>> candidates;
  for (size_t row = 0; row < rows; ++row) {
    const size_t before = known.size();
    for (const Ranked& each : model_.ranked(first_wanted + row)) {
      if (each.token < vocabulary_) known.push_back(each);
    }
    candidates.push_back(std::span(known).subspan(before));
  }
  growth.add(candidates, accepted_rows(model_, growth, first_wanted, sampled));
}

// Samples children from q, computed from the logits on the host after the request's logits
// processor, over tokens that the target has.
void SmallLm::sample_children(GrowingTree& tree) {
  const auto columns = static_cast<size_t>(model_.config().vocabulary);
  const auto known = std::min(columns, static_cast<size_t>(vocabulary_));  // tokens that both models have
  const auto logits_of = [&](size_t row) {
    const size_t wanted = static_cast<size_t>(tree.slice->first_wanted) + row;
    return processed(plan_.view(), static_cast<int32_t>(wanted), model_.logits().subspan(wanted * columns, columns), processed_)
        .first(known);
  };
  tree.growth.sample(logits_of, tree.sequence->spec.sampling, chain_);
}

Result<std::unique_ptr<Method>> make_small_lm(const MethodParts& parts) {
  const auto& [options, target, texts] = parts;
  TRY(DraftModelSource source, find_draft_model(options, target));
  TRY(std::unique_ptr<SmallLm> method, SmallLm::load({.folder = std::move(source.folder),
                                                      .name = std::move(source.name),
                                                      .device = std::move(source.device),
                                                      .cache_tokens = options.cache_rows(),
                                                      .cache_bytes = options.cache_bytes(),
                                                      .fine_rows = options.fine_rows,
                                                      .vocabulary = target.vocabulary,
                                                      .siblings_max = static_cast<int>(options.siblings)}));
  log_draft_model(method->model(), options);
  return method;
}

}  // namespace slipstream
