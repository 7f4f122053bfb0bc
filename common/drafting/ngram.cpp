#include "common/drafting/ngram.h"

#include <algorithm>

#include "common/drafting/make_method.h"
#include "common/sampling/win_chance.h"
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

// texts: the sequence's own comes first. noise: of the position behind the root, if the request has
// noise.
TokenTree grow(std::span<const NgramCounts* const> texts, const StopRule& rule, size_t children_max,
               const std::optional<NoiseKey>& noise) {
  TreeGrowth growth(rule);
  while (!growth.frontier().empty()) {
    std::vector<std::vector<Ranked>> guesses;
    for (const TreeRow& row : growth.frontier()) {
      std::vector<Ranked>& found = guesses.emplace_back(guess(texts.front()->context(path_to(growth.rows(), row)), texts));
      if (noise) {
        NoiseKey there = *noise;
        there.position += static_cast<uint32_t>(row.depth);
        rank_by_noise(found, there);
      }
      found.resize(std::min(found.size(), children_max));
    }
    const std::vector<std::span<const Ranked>> candidates(guesses.begin(), guesses.end());
    growth.add(candidates);
  }
  return growth.tree();
}

}  // namespace

LookUp look_up_of(std::string_view name) {
  return name == kLookUpOwn ? LookUp::own : name == kLookUpAll ? LookUp::all : LookUp::tenant;
}

TenantId NgramMethod::tenant_of(const GenerationSpec& spec) const {
  constexpr TenantId kEveryone = 1;
  return look_up_ == LookUp::own ? kNoTenant : look_up_ == LookUp::all ? kEveryone : spec.tenant;
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
    std::vector<const NgramCounts*> texts{&sequence.text};
    if (const NgramCounts* earlier = texts_.find(sequence.tenant)) texts.push_back(earlier);
    std::optional<NoiseKey> noise = sequence.noise;
    if (noise) noise->position = static_cast<uint32_t>(sequence.length - sequence.prompt_length);
    const TokenTree tree = grow(texts, ask.rule, sequence.sampled ? 1 : kGuessesMax, noise);
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
  if (answer > 0) texts_.append(sequence.tenant, sequence.text.tail(answer + kNgramMax));
  sequences_.erase(ended);
}

Result<std::unique_ptr<Method>> make_ngram(const DrafterOptions& options, const Fingerprint&) {
  return std::make_unique<NgramMethod>(look_up_of(options.look_up));
}

}  // namespace slipstream
