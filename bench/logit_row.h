#pragma once

#include <random>
#include <vector>

namespace slipstream {

// spread 1: flat, as of a model that knows nothing; 3: about what a chat model's logits look like, plus a few likely tokens.
inline std::vector<float> logit_row(int vocabulary, float spread) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(static_cast<size_t>(vocabulary));
  for (float& logit : logits) logit = normal(random);
  if (spread > 1) {
    for (int i = 0; i < 8; ++i) logits[random() % logits.size()] = 12.0F + normal(random);
  }
  return logits;
}

}  // namespace slipstream
