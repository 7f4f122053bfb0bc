#include "common/drafting/small_lm.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/model/adjusted_row.h"

namespace slipstream {
namespace {

std::variant<TreeGrowth, DrawnGrowth> growth_of(const Acceptance& acceptance, const StopRule& rule) {
  if (!is_drawn(acceptance.rule)) return TreeGrowth(rule);
  return DrawnGrowth({.stop = rule,
                      .root_children = acceptance.root_children,
                      .children = acceptance.children,
                      .replacement = acceptance.repeats ? Replacement::with : Replacement::without});
}

}  // namespace

SmallLm::Sequence::Sequence(BlockPool& pool, const GenerationSpec& wanted) : spec(wanted), table(pool) {
  if (spec.adjustments.any()) adjuster = std::make_shared<Adjuster>(spec.adjustments);
}

void SmallLm::Sequence::take(std::span<const TokenId> more) {
  if (adjuster) {
    const auto missing = static_cast<size_t>(std::max(0, spec.prompt_length - static_cast<int32_t>(tokens.size())));
    const size_t prompt = std::min(missing, more.size());
    if (prompt > 0) adjuster->add_prompt(more.first(prompt));
    adjuster->add_output(more.subspan(prompt));
  }
  tokens.insert(tokens.end(), more.begin(), more.end());
}

void SmallLm::Sequence::forget() {
  table.shrink(0);
  cached = 0;
  kept = {};
  moves.clear();
  drawn.clear();
}

SmallLm::SmallLm(LanguageModel model, const SmallLmOptions& options)
    : model_(std::move(model)),
      name_(options.name),
      vocabulary_(options.vocabulary),
      siblings_max_(options.siblings_max),
      pool_(options.cache_tokens / kBlockTokens) {
  plan_.blocks_max = blocks_of_a_sequence(model_.config().context_max);
}

Result<std::unique_ptr<SmallLm>> SmallLm::load(const SmallLmOptions& options) {
  CHECK(options.vocabulary > 0, "a target has tokens");
  if (options.siblings_max < 1 || options.siblings_max > kSiblingsMax) {
    return fail("{} siblings a node were asked for; 1 to {} are possible", options.siblings_max, kSiblingsMax);
  }
  TRY(LanguageModel model,
      LanguageModel::load(
          options.folder, options.device,
          {.cache_blocks = options.cache_tokens / kBlockTokens, .ranked = options.siblings_max, .on_load = log_load()}));
  return std::unique_ptr<SmallLm>(new SmallLm(std::move(model), options));
}

void SmallLm::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_.insert_or_assign(key, Sequence(pool_, spec));
}

// What the new tokens took from the last tree is in the cache already: as in a verifier's commit, its rows move behind the
// context.
void SmallLm::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Sequence& sequence = sequences_.at(key);
  std::vector<int32_t> path;
  for (const TokenId token : tokens) {
    const int32_t parent = path.empty() ? 0 : path.back();
    const auto taken = std::ranges::find_if(
        sequence.drawn, [&](const TreeGrowth::Row& row) { return row.parent == parent && row.token == token; });
    if (taken == sequence.drawn.end()) break;
    path.push_back(static_cast<int32_t>(taken - sequence.drawn.begin()));
  }
  if (!sequence.drawn.empty()) {
    sequence.table.commit(sequence.root(), path, sequence.moves);
    sequence.cached = sequence.root() + 1 + static_cast<int32_t>(path.size());
    sequence.drawn.clear();
  }
  const auto known = [&](TokenId token) { return token < model_.config().vocabulary; };
  sequence.foreign = sequence.foreign || !std::ranges::all_of(tokens, known);
  sequence.take(tokens);
}

// Nullopt: this sequence gets no draft.
std::optional<SmallLm::Lane> SmallLm::lane_of(const DraftAsk& ask) {
  Sequence& sequence = sequences_.at(ask.key);
  StopRule rule = ask.rule;
  rule.depth_max = std::min(rule.depth_max, model_.config().context_max - 1 - sequence.root());
  const GenerationSpec& spec = sequence.spec;
  Lane lane{.sequence = &sequence,
            .growth = growth_of(spec.acceptance, rule),
            .dice = {{spec.seed, spec.choice, ask.epoch, ask.round}, NoisePurpose::draft}};
  if (sequence.tokens.empty() || sequence.foreign || lane.frontier().empty()) return std::nullopt;
  if (sequence.table.blocks().empty()) adopt(sequence);
  if (!reserve(sequence)) return std::nullopt;
  sequence.cached = std::min(sequence.cached, sequence.root());
  sequence.drawn.clear();
  return lane;
}

// All but the root, which is to be computed.
void SmallLm::adopt(Sequence& sequence) {
  const auto before_root = std::span(sequence.tokens).first(static_cast<size_t>(sequence.root()));
  sequence.cached = prefixes_.begin(sequence.table, before_root, sequence.kept);
  work_.prefix_tokens += static_cast<uint64_t>(sequence.cached);
}

void SmallLm::keep(Sequence& sequence) {
  if (!sequence.moves.empty()) return;  // it had no room in the pass
  prefixes_.keep_whole(sequence.table, sequence.tokens, sequence.cached, sequence.kept);
}

// Room for the context and any tree behind it, if need be at the cost of those that have waited longest for another ask.
bool SmallLm::reserve(Sequence& sequence) {
  while (!sequence.table.reserve(sequence.root() + 1 + kTreeNodesMax)) {
    if (prefixes_.evict()) continue;
    Sequence* victim = nullptr;
    for (auto& [key, other] : sequences_) {
      if (other.job == job_ || other.table.blocks().empty()) continue;
      if (victim == nullptr || other.job < victim->job) victim = &other;
    }
    if (victim == nullptr) return false;
    victim->forget();
    ++work_.evictions;
  }
  return true;
}

Result<std::vector<Draft>> SmallLm::draft(std::span<const DraftAsk> asks) {
  ++job_;
  for (const DraftAsk& ask : asks) sequences_.at(ask.key).job = job_;
  std::vector<Draft> trees(asks.size());
  std::vector<Lane> lanes;
  for (size_t i = 0; i < asks.size(); ++i) {
    auto lane = lane_of(asks[i]);
    if (lane) {
      lane->ask = i;
      lanes.push_back(*std::move(lane));
    } else {
      trees[i] = TokenTree();
    }
  }
  Result<void> done = learn(lanes);
  if (done) done = grow(lanes);
  if (!done) {
    for (Lane& lane : lanes) lane.sequence->forget();
    return std::unexpected(done.error());
  }
  for (Lane& lane : lanes) {
    keep(*lane.sequence);
    if (!lane.drafts) continue;
    lane.sequence->drawn.assign(lane.rows().begin(), lane.rows().end());
    trees[lane.ask] = std::visit([](const auto& growth) { return DraftTree(growth.tree()); }, lane.growth);
  }
  return trees;
}

// The first pass. Sequences that are all but up to date go first, with their roots; in what is left to them, those with much to
// learn, whose roots come in a later job: by then their verifier may want another tree.
Result<void> SmallLm::learn(std::vector<Lane>& lanes) {
  plan_.clear();
  const auto quick = [](const Lane& lane) { return lane.sequence->unlearnt() <= kLearnRowsBeside; };
  for (Lane& lane : lanes) {
    const int32_t rows = lane.sequence->unlearnt();
    if (quick(lane) && plan_.rows() + rows + 1 <= kStepRowsMax) enter(lane, rows, true);
  }
  int32_t left = std::min(plan_.rows() > 0 ? kLearnRowsBeside : kLearnRows, kStepRowsMax - plan_.rows());
  for (Lane& lane : lanes) {
    if (quick(lane) || left == 0) continue;
    const int32_t rows = std::min(lane.sequence->unlearnt(), left);
    enter(lane, rows, false);
    left -= rows;
  }
  return run(lanes);
}

// The further levels, until no tree grows any more. When a level has more rows than a pass, the less urgent trees stay as they
// are.
Result<void> SmallLm::grow(std::vector<Lane>& lanes) {
  while (true) {
    plan_.clear();
    for (Lane& lane : lanes) {
      const auto rows = static_cast<int>(lane.frontier().size());
      if (!lane.drafts || rows == 0) continue;
      if (plan_.rows() + rows <= kStepRowsMax) {
        enter(lane, 0, true);
      } else {
        std::visit([](auto& growth) { growth.stop(); }, lane.growth);
      }
    }
    if (plan_.rows() == 0) return {};
    TRY_VOID(run(lanes));
  }
}

// Adds the next context_rows positions of the lane's sequence to the pass, and the frontier of its tree.
void SmallLm::enter(Lane& lane, int32_t context_rows, bool frontier) {
  Sequence& sequence = *lane.sequence;
  plan_.moves.insert(plan_.moves.end(), sequence.moves.begin(), sequence.moves.end());
  sequence.moves.clear();
  lane.index = plan_.add_sequence(sequence.table.blocks());
  for (; context_rows > 0; --context_rows, ++sequence.cached) {
    plan_.add({.token = sequence.tokens[static_cast<size_t>(sequence.cached)],
               .position = sequence.cached,
               .slot = sequence.table.slot(sequence.cached),
               .sequence = lane.index,
               .visible = sequence.cached + 1});
  }
  lane.in_pass = frontier;
  if (!frontier) return;
  lane.first_wanted = plan_.wanted.size();
  const int32_t root = sequence.root();
  const int32_t adjuster = sequence.adjuster ? plan_.add_adjuster(sequence.adjuster) : -1;
  const auto drafted = [&](int of) { return lane.rows()[static_cast<size_t>(of)].token; };
  const auto rows = lane.frontier();
  auto at = static_cast<int32_t>(lane.rows().size() - rows.size());
  for (const TreeGrowth::Row& row : rows) {
    plan_.add({.token = row.depth == 0 ? sequence.tokens.back() : row.token,
               .position = root + row.depth,
               .slot = sequence.table.slot(root + at++),
               .sequence = lane.index,
               .visible = root,
               .ancestors = row.ancestors});
    RowSampling sampling = sequence.spec.row(root + 1 - sequence.spec.prompt_length + row.depth);
    if (!std::holds_alternative<TreeGrowth>(lane.growth)) sampling.params = kLawAlone;
    plan_.want(sampling);
    if (adjuster >= 0) plan_.adjust(adjuster, row.ancestors, drafted);
  }
}

Result<void> SmallLm::run(std::vector<Lane>& lanes) {
  if (plan_.rows() == 0) return {};
  ++work_.passes;
  work_.rows += static_cast<uint64_t>(plan_.rows());
  TRY_VOID(model_.run(plan_.view()));
  for (Lane& lane : lanes) {
    if (!std::exchange(lane.in_pass, false)) continue;
    lane.drafts = true;
    lane.sequence->cached = lane.sequence->root() + 1;
    if (auto* ranked = std::get_if<TreeGrowth>(&lane.growth)) {
      rank_children(*ranked, lane.first_wanted);
    } else {
      draw_children(std::get<DrawnGrowth>(lane.growth), lane, lane.dice);
    }
  }
  return {};
}

void SmallLm::rank_children(TreeGrowth& growth, size_t first_wanted) {
  const size_t rows = growth.frontier().size();
  std::vector<Ranked> known;  // by the target, too
  known.reserve(rows * static_cast<size_t>(siblings_max_));
  std::vector<std::span<const Ranked>> candidates;
  for (size_t row = 0; row < rows; ++row) {
    const size_t before = known.size();
    for (const Ranked& each : model_.ranked(first_wanted + row)) {
      if (each.token < vocabulary_) known.push_back(each);
    }
    candidates.push_back(std::span(known).subspan(before));
  }
  growth.add(candidates);
}

void SmallLm::draw_children(DrawnGrowth& growth, const Lane& lane, Dice& dice) {
  const auto columns = static_cast<size_t>(model_.config().vocabulary);
  const auto known = std::min(columns, static_cast<size_t>(vocabulary_));  // by the target, too
  std::vector<OwnLaw> laws(growth.frontier().size());
  std::vector<Law> views;
  for (size_t row = 0; row < laws.size(); ++row) {
    const size_t wanted = lane.first_wanted + row;
    const auto logits =
        adjusted(plan_.view(), static_cast<int32_t>(wanted), model_.logits().subspan(wanted * columns, columns), adjusted_);
    draft_law(logits.first(known), lane.sequence->spec.sampling, chain_, laws[row]);
    views.push_back(laws[row].view());
  }
  growth.add(views, dice);
}

}  // namespace slipstream
