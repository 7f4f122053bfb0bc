#include "common/sampling/token_counts.h"

#include <algorithm>

namespace slipstream {

// Sorts once: a prompt may be long. May be called again for the next chunk of the prompt.
void TokenCounts::add_prompt(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) seen_.push_back({token, 0});
  std::ranges::sort(seen_, {}, &Seen::id);
  const auto doubles = std::ranges::unique(seen_, {}, &Seen::id);
  seen_.erase(doubles.begin(), doubles.end());
}

void TokenCounts::add_output(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) {
    auto at = std::ranges::lower_bound(seen_, token, {}, &Seen::id);
    if (at == seen_.end() || at->id != token) at = seen_.insert(at, {token, 0});
    ++at->times;
  }
}

int32_t TokenCounts::times(TokenId id) const {
  const auto at = std::ranges::lower_bound(seen_, id, {}, &Seen::id);
  return at == seen_.end() || at->id != id ? 0 : at->times;
}

}  // namespace slipstream
