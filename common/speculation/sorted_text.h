// A text that does not change, with its positions sorted by what stands before them: the tokens
// that followed a context are one range of the sorted positions, and each further token of the
// context narrows it by binary search. It is a suffix array of the text read backwards.
//
//   text         a b c a b d            position 2 (c) and 5 (d) both stand behind a b, so they
//   positions    ... 2 5 ...            are neighbours; narrow() by b, then by a, leaves these two
//
// It takes 4 bytes a position beside the 4 bytes of the token, and no time to open: a file of both
// arrays can be mapped (corpus/corpus.h). It owns neither. Pure, and thread-safe: nothing changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/rank.h"

namespace slipstream {

class SortedText {
 public:
  // Neighbours in the order of positions: those behind one context.
  using Places = std::span<const uint32_t>;

  // The positions of this text, sorted. Left out are those without a token before them: the first,
  // and those behind a kTextEnd. O(n log n): a second for a million tokens.
  static std::vector<uint32_t> sort(std::span<const TokenId> tokens);

  SortedText() = default;  // of no text
  // REQUIRES: order is sort(tokens).
  SortedText(std::span<const TokenId> tokens, std::span<const uint32_t> order) : tokens_(tokens), order_(order) {}

  Places places() const { return order_; }  // behind the context of no tokens
  // Of these places, which stand behind the same n tokens, those with `token` before these n.
  // REQUIRES: n < kNgramMax.
  Places narrow(Places places, int n, TokenId token) const;
  // Adds to `counts` how often each token is at these places, of kOccurrencesMax of them that are
  // spread evenly. Returns how many were looked at.
  float count(Places places, std::vector<Ranked>& counts) const;

 private:
  std::span<const TokenId> tokens_;
  std::span<const uint32_t> order_;
};

}  // namespace slipstream
