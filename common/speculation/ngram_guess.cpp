#include "common/speculation/ngram_guess.h"

#include <algorithm>
#include <array>

namespace slipstream {
namespace {

constexpr float kNegligible = 0.01F;  // a weight at which the shorter contexts are left out

// The places behind the last 1, 2, ... tokens of a context.
using Levels = std::array<SortedText::Places, kNgramMax>;

Levels levels_of(const NgramContext& context, const SortedText& corpus) {
  Levels levels;
  SortedText::Places places = corpus.places();
  for (int n = 0; n < context.length && !places.empty(); ++n) {
    places = corpus.narrow(places, n, context.tokens[static_cast<size_t>(n)]);
    levels[static_cast<size_t>(n)] = places;
  }
  return levels;
}

// The recursion is unrolled from its end, since the shortest contexts occur most and weigh least.
// `left` is the weight of p_n in the last of them.
void add_corpora(const NgramContext& context, std::span<const SortedText> corpora, std::vector<Ranked>& guesses) {
  std::vector<Levels> levels;
  for (const SortedText& corpus : corpora) levels.push_back(levels_of(context, corpus));
  std::vector<Ranked> counts;
  float left = 1;
  for (size_t n = kNgramMax; n-- > 0 && left > kNegligible;) {
    counts.clear();
    float total = 0;
    for (size_t i = 0; i < corpora.size(); ++i) total += corpora[i].count(levels[i][n], counts);
    for (const Ranked& count : counts) entry_of(guesses, count.token) += left * count.confidence / (total + kNgramPrior);
    left *= kNgramPrior / (total + kNgramPrior);
  }
}

void add_texts(const NgramContext& context, std::span<const NgramCounts* const> texts, std::vector<Ranked>& guesses) {
  std::vector<Ranked> counts;
  uint64_t hash = 0;
  for (int n = 1; n <= context.length; ++n) {
    hash = longer_hash(hash, context.tokens[static_cast<size_t>(n) - 1]);
    counts.clear();
    float total = 0;
    for (const NgramCounts* text : texts) total += text->count(context, n, hash, counts);
    if (total == 0) return;
    for (Ranked& guess : guesses) guess.confidence *= kNgramPrior / (total + kNgramPrior);
    for (const Ranked& count : counts) entry_of(guesses, count.token) += count.confidence / (total + kNgramPrior);
  }
}

}  // namespace

std::vector<Ranked> guess(const NgramContext& context, const NgramSources& from) {
  std::vector<Ranked> guesses;
  add_corpora(context, from.corpora, guesses);
  add_texts(context, from.texts, guesses);
  std::ranges::stable_sort(guesses, std::ranges::greater{}, &Ranked::confidence);
  guesses.resize(std::min<size_t>(guesses.size(), kGuessesMax));
  return guesses;
}

}  // namespace slipstream
