// The tokens of a sequence that its target's draft head does not draft by itself. A head has a
// reduced vocabulary, the most frequent tokens (EAGLE-3, 2503.01840); what a request is about,
// names above all, is often not in it, and is said again. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/token_mask.h"

namespace slipstream {

inline constexpr size_t kContextWordsMax = 120;

class ContextWords {
 public:
  // Reads what was appended since the last call. tokens: all of the sequence.
  void read(std::span<const TokenId> tokens, const TokenMask& draft_vocabulary) {
    for (; read_ < tokens.size(); ++read_) {
      if (!draft_vocabulary.allows(tokens[read_])) add(tokens[read_]);
    }
  }
  // Distinct, the one that was said last first; at most kContextWordsMax.
  std::span<const TokenId> latest() const { return latest_; }

 private:
  void add(TokenId token) {
    const auto at = std::ranges::find(latest_, token);
    if (at != latest_.end()) {
      std::rotate(latest_.begin(), at, at + 1);
      return;
    }
    if (latest_.size() == kContextWordsMax) latest_.pop_back();
    latest_.insert(latest_.begin(), token);
  }

  size_t read_ = 0;
  std::vector<TokenId> latest_;
};

}  // namespace slipstream
