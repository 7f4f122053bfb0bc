// Finds where the last few tokens of a sequence occurred in it before, and what followed (prompt look-up decoding).
//
// Each n-gram length keeps its latest positions; an append costs O(kNgramMax) expected, a look-up O(kNgramMax + answer).
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

inline constexpr int kNgramMin = 2;  // tokens that must match at least
inline constexpr int kNgramMax = 5;  // longest match tried first

class NgramIndex {
 public:
  struct Match {
    int length = 0;                     // tokens matched, kNgramMin..kNgramMax; 0: none
    std::span<const TokenId> following;  // what came after the earlier occurrence; valid until the next append()
  };

  void append(std::span<const TokenId> tokens);
  // The longest match of the sequence's own end, latest earlier occurrence first; `following` holds at most `tokens_max`.
  Match match(int tokens_max) const;
  std::span<const TokenId> tokens() const { return tokens_; }

 private:
  std::vector<TokenId> tokens_;
  // [kNgramMax - kNgramMin + 1] hash of an n-gram -> index just after its latest and its latest-but-one occurrence
  struct Places {
    int32_t latest = -1, before = -1;
  };
  std::unordered_map<uint64_t, Places> places_[kNgramMax - kNgramMin + 1];
};

}  // namespace slipstream
