// Where the ratio family gets its luck from. Rules ask questions of the kind below and nothing else, so that a test can answer
// each of them in every possible way and add up the output's law exactly.
#pragma once

#include <cstddef>
#include <span>

#include "common/sampling/law.h"
#include "kernels/exact/noise.h"

namespace slipstream {

class Dice {
 public:
  virtual ~Dice() = default;

  virtual bool accept(double probability) = 0;  // true so often; 0 never, 1 always
  // An index, as often as its weight says. Weights are not negative, and not all 0.
  virtual size_t pick(std::span<const double> weights) = 0;
  // A token of the law that is not among `without` (ascending), as often as its weight says. There is one.
  virtual TokenId draw(const Law& law, std::span<const TokenId> without = {}) = 0;
};

// Noise by name (docs/NOISE.md, 8): each question of a round has a number of its own, so that no two chains, siblings or rounds
// share any, and drafts, acceptance and residual never do.
class KeyedDice final : public Dice {
 public:
  struct Key {
    uint64_t seed = 0;
    uint32_t choice = 0;  // below kChoicesMax
    uint32_t epoch = 0;
    uint32_t round = 0;
  };
  // purpose: draft for who draws a tree, accept for who judges it (its draws are of purpose residual).
  KeyedDice(const Key& key, NoisePurpose purpose);

  bool accept(double probability) override;
  size_t pick(std::span<const double> weights) override;
  TokenId draw(const Law& law, std::span<const TokenId> without) override;

 private:
  struct Words {
    uint32_t high, low;
  };
  Words next(NoisePurpose purpose);

  Key key_;
  NoisePurpose coins_, draws_;
  uint32_t asked_ = 0;
};

}  // namespace slipstream
