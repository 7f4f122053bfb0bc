// Finds where the last few tokens of a sequence occurred in it before, and what followed (prompt
// look-up decoding).
//
// Every n-gram of each length knows its two latest places, exactly: an append costs O(kNgramMax)
// expected, a look-up O(kNgramMax + answer). Memory is about 64 to 128 bytes a token of the
// sequence, whose length the caller bounds. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr int kNgramMin = 2;  // tokens that must match at least
inline constexpr int kNgramMax = 5;  // longest match tried first

class NgramIndex {
 public:
  struct Match {
    int length = 0;                  // tokens matched, kNgramMin..kNgramMax; 0: none
    std::vector<TokenId> following;  // what came after the earlier occurrence
  };

  void append(std::span<const TokenId> tokens);
  // The longest match of the sequence's own end, its latest earlier occurrence. `following` then
  // holds tokens_max tokens: where the occurrence runs into the end ("a b a b a b") the copy goes
  // on from itself, as the repetition would.
  Match match(int tokens_max) const;
  std::span<const TokenId> tokens() const { return tokens_; }

 private:
  // An n-gram by where it ends: index just after its latest and its latest-but-one occurrence.
  struct Entry {
    int32_t latest = 0, before = 0;  // 0: none
    int32_t length = 0;              // 0: an empty entry
  };

  void add_end(int length);
  void insert(std::vector<Entry>& table, const Entry& entry) const;
  // The entry that holds the n-gram ending before `end`, or the empty one where it belongs.
  size_t find(const std::vector<Entry>& table, int32_t end, int32_t length) const;

  std::vector<TokenId> tokens_;
  std::vector<Entry> table_;  // open addressing, a power of two, at most half full
  size_t entries_ = 0;
};

}  // namespace slipstream
