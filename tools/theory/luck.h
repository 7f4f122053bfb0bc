// Where a simulated answer gets its dice: as in the product, drafts and acceptance have dice of their own in each round.
#pragma once

#include <optional>

#include "common/sampling/dice.h"

namespace slipstream::theory {

class Luck {
 public:
  virtual ~Luck() = default;
  virtual void begin_round() = 0;  // before the first one, too
  virtual Dice& drafts() = 0;
  virtual Dice& judge() = 0;
};

// The product's noise by name (docs/NOISE.md, 8): an answer is an epoch of an experiment's seed.
class KeyedLuck final : public Luck {
 public:
  KeyedLuck(uint64_t seed, uint32_t answer) : key_{.seed = seed, .epoch = answer} { begin_round(); }

  void begin_round() override {
    drafts_.emplace(key_, NoisePurpose::draft);
    judge_.emplace(key_, NoisePurpose::accept);
    ++key_.round;
  }
  Dice& drafts() override { return *drafts_; }
  Dice& judge() override { return *judge_; }

 private:
  KeyedDice::Key key_;
  std::optional<KeyedDice> drafts_, judge_;
};

}  // namespace slipstream::theory
