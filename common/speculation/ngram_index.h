// Finds where the last few tokens of a sequence occurred in it before, and what followed there
// (prompt look-up decoding).
//
// The index maps every n-gram of kNgramMin to kNgramMax tokens to its two latest places: the latest
// is the sequence's own end, the one before it is the match.
//
//   append   O(kNgramMax) a token, expected
//   match    O(kNgramMax + tokens_max), expected
//   memory   64 to 128 bytes a token; the caller bounds the sequence
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr int kNgramMin = 2;  // tokens of the shortest match
inline constexpr int kNgramMax = 5;  // tokens of the longest match, which is tried first

class NgramIndex {
 public:
  struct Match {
    int length = 0;                  // tokens that match, kNgramMin..kNgramMax; 0: no match
    std::vector<TokenId> following;  // [tokens_max] the tokens after the earlier occurrence
  };

  void append(std::span<const TokenId> tokens);
  // The latest earlier occurrence of the longest n-gram at the sequence's end that occurred before.
  // `following` always holds tokens_max tokens: where it reaches the end of the sequence, it
  // continues with its own beginning, as a repetition ("a b a b a b") would.
  Match match(int tokens_max) const;
  std::span<const TokenId> tokens() const { return tokens_; }

 private:
  // An n-gram, identified by the index just behind its latest occurrence.
  struct Entry {
    int32_t latest = 0, before = 0;  // index behind the latest occurrence, and behind the one before; 0: none
    int32_t length = 0;              // 0: the entry is empty
  };

  void add_end(int length);
  void insert(std::vector<Entry>& table, const Entry& entry) const;
  // Index of the entry of the n-gram that ends just before `end`, or of the empty entry where it
  // belongs.
  size_t find(const std::vector<Entry>& table, int32_t end, int32_t length) const;

  std::vector<TokenId> tokens_;
  std::vector<Entry> table_;  // open addressing; a power of two entries, at most half of them full
  size_t entries_ = 0;
};

}  // namespace slipstream
