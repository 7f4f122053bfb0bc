#pragma once

#include <random>
#include <vector>

namespace slipstream {

// spread 1: flat, as of a model that knows nothing; more: about what a chat model's logits look
// like, plus a few likely tokens. SmolLM2-135M's own rows, while it answers questions at
// temperature 1: spread 3.6, the highest 21 above the mean; top-p 0.95 keeps 10 tokens of half of
// the rows, and more than 478 of a tenth.
inline std::vector<float> logit_row(int vocabulary, float spread, float likely = 12.0F) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(static_cast<size_t>(vocabulary));
  for (float& logit : logits) logit = normal(random);
  if (spread > 1) {
    for (int i = 0; i < 8; ++i) logits[random() % logits.size()] = likely + normal(random);
  }
  return logits;
}

}  // namespace slipstream
