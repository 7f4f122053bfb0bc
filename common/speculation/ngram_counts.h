// Counts which tokens followed the last few tokens of a text earlier in it. ngram_guess.h makes
// probabilities of the counts of several texts.
//
// It holds the newest tokens_max tokens of the text, in about 52 to 104 bytes a token. The
// occurrences of each n-gram are a list through the text, the newest first, as in LZ77's hash
// chains: what is too old ends a list, so nothing is ever removed.
//
//   append   O(kNgramMax) a token, amortised
//   count    O(kOccurrencesMax)
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
inline constexpr int kOccurrencesMax = 32;  // of one context that are counted
inline constexpr TokenId kTextEnd = -1;     // append it between two texts: it is never guessed

// The last tokens of a text, the newest first.
struct NgramContext {
  std::array<TokenId, kNgramMax> tokens{};
  int length = 0;
};

// The hash of an n-gram, from that of one token less and the token before that one; that of no
// token is 0.
uint64_t longer_hash(uint64_t hash, TokenId token);
// The entry of `token`, added with 0 if it is new.
float& entry_of(std::vector<Ranked>& counts, TokenId token);

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

}  // namespace slipstream
