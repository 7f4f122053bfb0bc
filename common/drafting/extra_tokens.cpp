#include "common/drafting/extra_tokens.h"

#include <algorithm>

#include "common/sampling/chain.h"

namespace slipstream {

static_assert(kContextWordsMax + kFavouredTokens <= static_cast<size_t>(kExtraTokens));

// A filter removes unlikely tokens, and favourites are unlikely.
void ExtraTokens::add(std::span<const TokenId> words, const RowSampling& row, std::vector<ExtraToken>& extra) {
  if (!favoured_) return;
  const size_t begin = extra.size();
  for (const TokenId word : words) extra.push_back({.token = word, .bonus = kContextWordBonus});
  if (row.params.temperature > 0 && !filters(row.params)) {
    for (const TokenId token : favoured_->of(row)) {
      if (std::ranges::find(words, token) == words.end()) extra.push_back({.token = token});
    }
  }
  extra.resize(begin + kExtraTokens);
}

}  // namespace slipstream
