// Guesses what follows a context by how often each token followed it in several texts: a
// hierarchical Dirichlet language model (MacKay and Peto, 1995), first of the corpora, and of the
// texts on top of that. So what the request's own texts say counts for more than what the corpora
// say, which speak where the texts are silent.
//
//   p_0(x) = 0
//   p_n(x) = (count_n(x) + a p_{n-1}(x)) / (total_n + a)      n = 1 .. kNgramMax, a = kNgramPrior
//   q_0(x) = the last p_n(x)
//   q_n(x) = the same from q_{n-1}, with the counts of the texts
//
//   count_n(x)   how often x followed the last n tokens, of kOccurrencesMax times in each text
//   total_n      the sum of count_n; a recursion ends before the first n whose total is 0
//
// So one long match counts for much, many matches that agree for more, and what was never seen
// keeps the rest. With a = 2.5 the probabilities are those that are seen (docs/lab/PERFORMANCE.md,
// "Look-up drafts"), in answers of chat, mathematics, code, summaries and translation alike.
//
// O(kNgramMax kOccurrencesMax) for each text, and a binary search for each corpus: microseconds.
#pragma once

#include <span>
#include <vector>

#include "common/sampling/rank.h"
#include "common/speculation/ngram_counts.h"
#include "common/speculation/sorted_text.h"

namespace slipstream {

inline constexpr float kNgramPrior = 2.5F;  // occurrences that the shorter context weighs
inline constexpr int kGuessesMax = 8;       // tokens that guess() returns

struct NgramSources {
  std::vector<const NgramCounts*> texts;  // the request's own, and those of its tenant
  std::span<const SortedText> corpora;
};

// What may follow the context: at most kGuessesMax tokens with their probabilities, the likeliest
// first. Empty: nowhere is its last token with another behind it.
std::vector<Ranked> guess(const NgramContext& context, const NgramSources& from);

}  // namespace slipstream
