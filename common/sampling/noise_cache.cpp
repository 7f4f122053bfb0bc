#include "common/sampling/noise_cache.h"

#include <algorithm>

#include "common/sampling/vector_path.h"

namespace slipstream {

const uint8_t* NoiseCache::find(const NoiseKey& key, int vocabulary) {
  for (Row& row : rows_) {
    if (row.vocabulary >= vocabulary && row.key == key) {
      row.used = ++clock_;
      return row.levels.data();
    }
  }
  return nullptr;
}

const uint8_t* NoiseCache::make(const NoiseKey& key, int vocabulary) {
  if (const uint8_t* known = find(key, vocabulary)) return known;
  Row& row = *std::ranges::min_element(rows_, {}, &Row::used);
  row.levels.resize((static_cast<size_t>(vocabulary) + kNoiseBlock - 1) / kNoiseBlock * kNoiseBlock);
  constexpr auto loop = [](NoiseKey of, size_t size, uint8_t* levels) __attribute__((always_inline)) {
    for (size_t token = 0; token < size; token += kNoiseBlock) {
      noise_levels(of, static_cast<uint32_t>(token), levels + token);
    }
  };
  on_vectors<loop>(key, row.levels.size(), row.levels.data());
  row.key = key;
  row.vocabulary = vocabulary;
  row.used = ++clock_;
  return row.levels.data();
}

}  // namespace slipstream
