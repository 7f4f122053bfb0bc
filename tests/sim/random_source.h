// The randomness of a simulation: a seed and a purpose give the same numbers on every machine,
// independent of other purposes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/actor/actor.h"

namespace slipstream::sim {

class RandomSource {
 public:
  RandomSource(uint64_t seed, std::string_view purpose) : state_(seed * 0x9E3779B97F4A7C15ull) {
    for (char c : purpose) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  }

  uint64_t word() {  // SplitMix64 (Steele, Lea, Flood 2014)
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double share() { return static_cast<double>(word() >> 11) * 0x1p-53; }  // [0, 1)
  bool chance(double probability) { return share() < probability; }
  int64_t between(int64_t least, int64_t most) {  // both included
    return least + static_cast<int64_t>(word() % static_cast<uint64_t>(most - least + 1));
  }
  Time between(Time least, Time most) { return Time(between(least.count(), most.count())); }
  template <class T>
  T& pick(std::span<T> of) {  // REQUIRES: `of` is not empty
    return of[static_cast<size_t>(between(0, static_cast<int64_t>(of.size()) - 1))];
  }

 private:
  uint64_t state_;
};

}  // namespace slipstream::sim
