#include "common/speculation/ngram_guess.h"

#include <algorithm>

namespace slipstream {
namespace {

// One step of the recursion: from p_{n-1} to p_n.
void refine(std::vector<Ranked>& guesses, std::span<const Ranked> counts, float total) {
  for (Ranked& guess : guesses) guess.confidence *= kNgramPrior / (total + kNgramPrior);
  for (const Ranked& count : counts) entry_of(guesses, count.token) += count.confidence / (total + kNgramPrior);
}

void add_corpora(const NgramContext& context, std::span<const SortedText> corpora, std::vector<Ranked>& guesses) {
  std::vector<Ranked> counts;
  std::vector<SortedText::Places> places;
  for (const SortedText& corpus : corpora) places.push_back(corpus.places());
  for (int n = 1; n <= context.length; ++n) {
    counts.clear();
    float total = 0;
    for (size_t i = 0; i < corpora.size(); ++i) {
      places[i] = corpora[i].narrow(places[i], n - 1, context.tokens[static_cast<size_t>(n) - 1]);
      total += corpora[i].count(places[i], counts);
    }
    if (total == 0) return;
    refine(guesses, counts, total);
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
    refine(guesses, counts, total);
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
