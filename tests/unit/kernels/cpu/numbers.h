// What the kernels' tests compute with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace slipstream {

inline size_t at(int64_t index) { return static_cast<size_t>(index); }

inline std::vector<float> normal(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(at(count));
  for (float& value : values) value = draw(random);
  return values;
}

}  // namespace slipstream
