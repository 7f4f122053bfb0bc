#include "common/sampling/favoured_tokens.h"

#include <algorithm>

#include "common/sampling/gumbel_top_k.h"

namespace slipstream {

std::span<const TokenId> FavouredTokens::of(const RowSampling& row) {
  const NoiseKey key = coupled_key(row);
  auto at = std::ranges::find_if(kept_, [&](const Chosen& each) { return each.used > 0 && each.key == key; });
  if (at == kept_.end()) {
    at = std::ranges::min_element(kept_, {}, &Chosen::used);
    at->key = key;
    choose(*at);
  }
  at->used = ++clock_;
  return std::span(at->tokens).first(at->count);
}

// Most blocks have no level as high as the lowest of those that are chosen already.
void FavouredTokens::choose(Chosen& chosen) {
  const int64_t blocks = scan_blocks(vocabulary_);
  levels_.resize(static_cast<size_t>(blocks * kScanBlock));
  best_vocabulary_kernels().noise_levels(chosen.key, blocks, levels_.data());
  TopK<static_cast<int>(kFavouredTokens)> top;
  for (int64_t block = 0; block < blocks; ++block) {
    const uint8_t* levels = levels_.data() + block * kScanBlock;
    uint8_t highest = 0;
    for (int i = 0; i < kScanBlock; ++i) highest = std::max(highest, levels[i]);
    if (static_cast<double>(highest) <= top.threshold()) continue;
    for (int i = 0; i < kScanBlock; ++i) {
      const auto token = static_cast<TokenId>(block * kScanBlock + i);
      if (static_cast<double>(levels[i]) <= top.threshold() || token >= vocabulary_ || without_.allows(token)) continue;
      top.add({static_cast<double>(levels[i]), token});
    }
  }
  const auto found = top.candidates();
  chosen.count = found.size();
  std::ranges::transform(found, chosen.tokens.begin(), &Candidate::token);
}

}  // namespace slipstream
