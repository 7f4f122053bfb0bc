#include "common/drafting/ngram.h"

#include <algorithm>

#include "common/drafting/make_method.h"
#include "common/sampling/win_chance.h"
#include "common/speculation/ngram_guess.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {
namespace {

// The tokens from the root's first child down to this row.
std::vector<TokenId> path_to(std::span<const TreeRow> rows, const TreeRow& row) {
  std::vector<TokenId> path;
  for (const TreeRow* at = &row; at->parent >= 0; at = &rows[static_cast<size_t>(at->parent)]) path.push_back(at->token);
  std::ranges::reverse(path);
  return path;
}

// Turns the probabilities of guesses into their chances under the noise of their position.
void rank_by_noise(std::vector<Ranked>& guesses, const NoiseKey& noise) {
  double sum = 0;
  for (Ranked& guess : guesses) {
    const double chance = win_chance(static_cast<double>(guess.confidence), gumbel(noise, static_cast<uint32_t>(guess.token)));
    guess.confidence = static_cast<float>(chance);
    sum += chance;
  }
  for (Ranked& guess : guesses) guess.confidence /= static_cast<float>(std::max(sum, 1.0));
  std::ranges::stable_sort(guesses, std::ranges::greater{}, &Ranked::confidence);
}

struct Bounds {
  StopRule rule;
  size_t children_max = kGuessesMax;   // of a node
  std::optional<NoiseKey> noise = {};  // of the position behind the root, if the request has noise
};

TokenTree grow(const NgramCounts& own, const NgramSources& from, const Bounds& bounds) {
  TreeGrowth growth(bounds.rule);
  while (!growth.frontier().empty()) {
    std::vector<std::vector<Ranked>> guesses;
    for (const TreeRow& row : growth.frontier()) {
      std::vector<Ranked>& found = guesses.emplace_back(guess(own.context(path_to(growth.rows(), row)), from));
      if (bounds.noise) {
        NoiseKey there = *bounds.noise;
        there.position += static_cast<uint32_t>(row.depth);
        rank_by_noise(found, there);
      }
      found.resize(std::min(found.size(), bounds.children_max));
    }
    const std::vector<std::span<const Ranked>> candidates(guesses.begin(), guesses.end());
    growth.add(candidates);
  }
  return growth.tree();
}

}  // namespace

TenantId NgramMethod::tenant_of(const GenerationSpec& spec) const {
  constexpr TenantId kEveryone = 1;
  const LookUp where = texts_->where();
  return where == LookUp::own ? kNoTenant : where == LookUp::all ? kEveryone : spec.tenant;
}

void NgramMethod::begin(const DraftKey& key, const GenerationSpec& spec) {
  sequences_[key] = {.text = NgramCounts(),
                     .tenant = tenant_of(spec),
                     .prompt_length = spec.prompt_length,
                     .sampled = is_sampled(spec.acceptance.rule)};
  if (spec.acceptance.rule == Rule::coupled) sequences_[key].noise = NoiseKey{.seed = spec.seed, .choice = spec.choice};
}

void NgramMethod::advance(const DraftKey& key, std::span<const TokenId> tokens) {
  Sequence& sequence = sequences_[key];
  sequence.text.append(tokens);
  sequence.length += static_cast<int32_t>(tokens.size());
}

Result<std::vector<Draft>> NgramMethod::draft(std::span<const DraftAsk> asks) {
  std::vector<Draft> trees;
  trees.reserve(asks.size());
  for (const DraftAsk& ask : asks) {
    const Sequence& sequence = sequences_[ask.key];
    NgramSources from{.texts = {&sequence.text}, .corpora = corpora_};
    if (const NgramCounts* earlier = texts_->tenants().find(sequence.tenant)) from.texts.push_back(earlier);
    Bounds bounds{.rule = ask.rule, .noise = sequence.noise};
    if (bounds.noise) bounds.noise->position = static_cast<uint32_t>(sequence.length - sequence.prompt_length);
    if (sequence.sampled) bounds.children_max = 1;
    const TokenTree tree = grow(sequence.text, from, bounds);
    trees.push_back(sequence.sampled ? DraftTree::certain(tree) : DraftTree(tree));
  }
  return trees;
}

// The answer is remembered with the end of its prompt, so that its first tokens are found too.
void NgramMethod::end(const DraftKey& key) {
  const auto ended = sequences_.find(key);
  if (ended == sequences_.end()) return;
  const Sequence& sequence = ended->second;
  const int32_t answer = sequence.length - sequence.prompt_length;
  if (answer > 0) texts_->tenants().append(sequence.tenant, sequence.text.tail(answer + kNgramMax));
  sequences_.erase(ended);
}

Result<std::unique_ptr<Method>> make_ngram(const MethodParts& parts) { return std::make_unique<NgramMethod>(parts.texts); }

}  // namespace slipstream
