// Where the ratio family gets its random decisions from. The rules ask the three kinds of question
// below and no others, so that a test can answer each of them in every possible way and add up the
// distribution of the output exactly.
#pragma once

#include <cstddef>
#include <span>

#include "common/speculation/rejection/token_distribution.h"
#include "kernels/exact/noise.h"

namespace slipstream {

class RandomSource {
 public:
  virtual ~RandomSource() = default;

  // u < probability for a fresh uniform u in (0, 1): 0 is never true, 1 always.
  virtual bool accept(double probability) = 0;

  // An index i with probability weights[i] / sum. REQUIRES: no weight is negative, and one is
  // positive.
  virtual size_t pick(std::span<const double> weights) = 0;

  // A token of the distribution, in proportion to its weight. Tokens in `without` (ascending) are
  // left out. REQUIRES: a token with a positive weight is left.
  virtual TokenId draw(const TokenDistribution& distribution, std::span<const TokenId> without = {}) = 0;
};

// Counter-based random numbers (Philox, docs/design/NOISE.md, 8). Each question of a round has a
// number of its own, so chains, siblings and rounds share no random number, nor do drafting,
// acceptance and the residual.
class CounterRandom final : public RandomSource {
 public:
  struct Key {
    uint64_t seed = 0;
    uint32_t choice = 0;  // below kChoicesMax
    uint32_t epoch = 0;
    uint32_t round = 0;
  };
  // purpose: `draft` for the drafter that samples a tree; `accept` for the verifier (its draw() and
  // pick() use `residual`).
  CounterRandom(const Key& key, NoisePurpose purpose);

  bool accept(double probability) override;
  size_t pick(std::span<const double> weights) override;
  TokenId draw(const TokenDistribution& distribution, std::span<const TokenId> without) override;

 private:
  struct Words {
    uint32_t high, low;
  };
  Words next(NoisePurpose purpose);

  Key key_;
  NoisePurpose coins_, draws_;
  uint32_t asked_ = 0;  // questions so far
};

}  // namespace slipstream
