// Counts the tokens of a sequence for the penalties: which tokens it holds, and how often each
// stands in its output. Memory grows with the distinct tokens, not with the vocabulary. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

class TokenCounts {
 public:
  struct Seen {
    TokenId id = 0;
    int32_t times = 0;  // occurrences in the output; 0: the token stands in the prompt only
    bool operator==(const Seen&) const = default;
  };

  void add_prompt(std::span<const TokenId> tokens);  // REQUIRES (unchecked): no output was added yet
  void add_output(std::span<const TokenId> tokens);

  std::span<const Seen> seen() const { return seen_; }  // ascending by id, each token once
  int32_t times(TokenId id) const;                      // occurrences in the output

 private:
  std::vector<Seen> seen_;
};

}  // namespace slipstream
