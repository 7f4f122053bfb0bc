// The randomness of a simulated answer. As in the product, drafting and acceptance have separate
// random sources in each round.
#pragma once

#include <optional>

#include "common/speculation/rejection/random_source.h"

namespace slipstream::theory {

class RandomPair {
 public:
  virtual ~RandomPair() = default;
  virtual void begin_round() = 0;  // called before the first round, too
  virtual RandomSource& drafts() = 0;
  virtual RandomSource& accept() = 0;
};

// The product's counter-based noise (docs/design/NOISE.md, 8). The experiment's seed is the seed;
// each answer is an epoch.
class CounterRandomPair final : public RandomPair {
 public:
  CounterRandomPair(uint64_t seed, uint32_t answer) : key_{.seed = seed, .epoch = answer} { begin_round(); }

  void begin_round() override {
    drafts_.emplace(key_, NoisePurpose::draft);
    accept_.emplace(key_, NoisePurpose::accept);
    ++key_.round;
  }
  RandomSource& drafts() override { return *drafts_; }
  RandomSource& accept() override { return *accept_; }

 private:
  CounterRandom::Key key_;
  std::optional<CounterRandom> drafts_, accept_;
};

}  // namespace slipstream::theory
