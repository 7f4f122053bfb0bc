// Where a simulated answer gets its dice: as in the product, drafts and acceptance have dice of
// their own in each round.
#pragma once

#include <optional>

#include "common/speculation/rejection/random_source.h"

namespace slipstream::theory {

class RandomPair {
 public:
  virtual ~RandomPair() = default;
  virtual void begin_round() = 0;  // before the first one, too
  virtual RandomSource& drafts() = 0;
  virtual RandomSource& judge() = 0;
};

// The product's noise by name (docs/design/NOISE.md, 8): an answer is an epoch of an experiment's
// seed.
class CounterRandomPair final : public RandomPair {
 public:
  CounterRandomPair(uint64_t seed, uint32_t answer) : key_{.seed = seed, .epoch = answer} { begin_round(); }

  void begin_round() override {
    drafts_.emplace(key_, NoisePurpose::draft);
    judge_.emplace(key_, NoisePurpose::accept);
    ++key_.round;
  }
  RandomSource& drafts() override { return *drafts_; }
  RandomSource& judge() override { return *judge_; }

 private:
  CounterRandom::Key key_;
  std::optional<CounterRandom> drafts_, judge_;
};

}  // namespace slipstream::theory
