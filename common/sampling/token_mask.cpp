#include "common/sampling/token_mask.h"

#include <algorithm>
#include <limits>

namespace slipstream {

void allow_only(std::span<float> logits, const TokenMask& mask) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  constexpr uint32_t kAll = ~uint32_t{0};
  const std::span<const uint32_t> words = mask.words();
  for (size_t word = 0; word * 32 < logits.size(); ++word) {
    const uint32_t allowed = word < words.size() ? words[word] : 0;
    if (allowed == kAll) continue;
    const std::span<float> tokens = logits.subspan(word * 32, std::min<size_t>(32, logits.size() - word * 32));
    for (size_t bit = 0; bit < tokens.size(); ++bit) {
      const bool masked = (allowed >> bit & 1) == 0 && tokens[bit] <= std::numeric_limits<float>::max();
      tokens[bit] = masked ? kMasked : tokens[bit];
    }
  }
}

}  // namespace slipstream
