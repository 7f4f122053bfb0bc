// Rows of logits of all the shapes that bounds could get wrong: flat, peaked, tied, masked, huge,
// tiny, and lengths off the block size.
#pragma once

#include <cmath>
#include <random>
#include <vector>

namespace slipstream {

inline std::vector<float> random_row(std::mt19937_64& random) {
  constexpr int kSizes[] = {1, 2, 3, 17, 63, 64, 65, 200, 1000, 4097};
  std::vector<float> row(kSizes[random() % std::size(kSizes)]);
  constexpr float kSpreads[] = {0.0F, 1e-3F, 1.0F, 3.0F, 10.0F, 100.0F, 1e6F, 1e30F};
  std::normal_distribution<float> normal(0, 1);
  const float spread = kSpreads[random() % std::size(kSpreads)], offset = random() % 4 == 0 ? normal(random) * 1e4F : 0;
  const bool tied = random() % 3 == 0, masked = random() % 3 == 0;
  for (float& logit : row) {
    const float sampled = tied ? static_cast<float>(random() % 4) : normal(random);
    logit = masked && random() % 2 == 0 ? -INFINITY : offset + spread * sampled;
  }
  return row;
}

}  // namespace slipstream
