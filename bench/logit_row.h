// Makes synthetic rows of logits for benchmarks.
#pragma once

#include <random>
#include <vector>

namespace slipstream {

// spread: standard deviation of the logits. 1: flat, as from a model that knows nothing. Above 1:
// similar to a chat model, with eight likely tokens around `likely`.
//
// For comparison, SmolLM2-135M answering questions at temperature 1 has a spread of 3.6 and a
// maximum 21 above the mean; top-p 0.95 keeps 10 tokens or fewer in half of the rows, and more than
// 478 in a tenth of them.
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
