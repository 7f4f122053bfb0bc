// Counts which tokens followed the last few tokens of a text earlier in it, or in other texts, and
// makes probabilities of the counts: a hierarchical Dirichlet language model (MacKay and Peto,
// 1995) of these texts.
//
//   p_0(x) = 0
//   p_n(x) = (count_n(x) + a p_{n-1}(x)) / (total_n + a)      n = 1 .. kNgramMax, a = kNgramPrior
//
//   count_n(x)   how often x followed the last n tokens, of the newest kOccurrencesMax times in each
//                text
//   total_n      the sum of count_n; the recursion ends before the first n whose total is 0
//
// So one long match counts for much, many matches that agree for more, and what was never seen
// keeps the rest. With a = 2.5 the probabilities are those that are seen (docs/lab/PERFORMANCE.md,
// "Look-up drafts"), in answers of chat, mathematics, code, summaries and translation alike.
//
// It holds the newest tokens_max tokens of the text, in about 52 to 104 bytes a token. The
// occurrences of each n-gram are a list through the text, the newest first, as in LZ77's hash
// chains: what is too old ends a list, so nothing is ever removed.
//
//   append   O(kNgramMax) a token, amortised
//   guess    O(kNgramMax kOccurrencesMax): microseconds
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/sampling/rank.h"

namespace slipstream {

inline constexpr int kNgramMax = 6;         // tokens of the longest context
inline constexpr float kNgramPrior = 2.5F;  // occurrences that the shorter context weighs
inline constexpr int kOccurrencesMax = 32;  // of one context that are counted
inline constexpr int kGuessesMax = 8;       // tokens that guess() returns
inline constexpr TokenId kTextEnd = -1;     // append it between two texts: it is never guessed

// The last tokens of a text, the newest first.
struct NgramContext {
  std::array<TokenId, kNgramMax> tokens{};
  int length = 0;
};

class NgramCounts {
 public:
  explicit NgramCounts(int32_t tokens_max = kContextTokensMax);

  void append(std::span<const TokenId> tokens);
  // The end of the text with `path` behind it.
  NgramContext context(std::span<const TokenId> path = {}) const;
  // The newest n tokens, oldest first; fewer if fewer are held.
  std::vector<TokenId> tail(int32_t n) const;
  int64_t room() const { return static_cast<int64_t>(tokens_.size()); }  // tokens that memory is taken for

  // Adds to `counts` how often each token followed the newest n tokens of the context, whose hash
  // is given. Returns how often anything did.
  float count(const NgramContext& context, int n, uint64_t hash, std::vector<Ranked>& counts) const;

 private:
  // Indices in the text. `behind` is the one just behind an occurrence of an n-gram, so never 0.
  using Index = uint32_t;

  TokenId at(Index index) const { return tokens_[index & mask_]; }
  Index& before(Index behind, int n) { return before_[(behind & mask_) * kNgramMax + static_cast<Index>(n) - 1]; }
  Index before(Index behind, int n) const { return before_[(behind & mask_) * kNgramMax + static_cast<Index>(n) - 1]; }
  Index& newest(uint64_t hash, int n) { return newest_[(hash & mask_) * kNgramMax + static_cast<Index>(n) - 1]; }
  Index newest(uint64_t hash, int n) const { return newest_[(hash & mask_) * kNgramMax + static_cast<Index>(n) - 1]; }
  bool held(Index behind, int n) const { return behind >= static_cast<Index>(n) + oldest(); }
  Index oldest() const { return size_ > tokens_.size() ? size_ - static_cast<Index>(tokens_.size()) : 0; }
  void add(TokenId token);
  void resize(Index tokens);

  Index most_;  // tokens held at most; a power of two
  Index mask_ = 0;
  Index size_ = 0;               // of the text, with what is not held any more
  std::vector<TokenId> tokens_;  // a ring
  std::vector<Index> before_;    // [tokens][kNgramMax] behind the occurrence before this one, or behind one of an n-gram
                                 // whose hash has the same place; 0: none
  std::vector<Index> newest_;    // [tokens][kNgramMax] by hash of the n-gram: behind its newest occurrence; 0: none
};

// What may follow the context, by the counts of all these texts together: at most kGuessesMax
// tokens with their probabilities, the likeliest first. Empty: no text has its last token with
// another behind it.
std::vector<Ranked> guess(const NgramContext& context, std::span<const NgramCounts* const> texts);

}  // namespace slipstream
