// Which tokens a sequence holds, and how often its output does: what penalties are made of.
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
    int32_t times = 0;  // in the output; 0: in the prompt alone
    bool operator==(const Seen&) const = default;
  };

  void add_prompt(std::span<const TokenId> tokens);  // before any output
  void add_output(std::span<const TokenId> tokens);

  std::span<const Seen> seen() const { return seen_; }  // ascending by id, each token once
  int32_t times(TokenId id) const;                      // in the output

 private:
  std::vector<Seen> seen_;
};

}  // namespace slipstream
