#include "common/sampling/noise_cache.h"

#include <algorithm>

namespace slipstream {

// An entry of a larger vocabulary serves as well: a token's noise does not depend on its
// vocabulary.
const uint8_t* NoiseCache::find(const NoiseKey& key, int vocabulary) {
  for (Row& row : rows_) {
    if (row.vocabulary >= vocabulary && row.key == key) {
      row.used = ++clock_;
      return row.levels.data();
    }
  }
  return nullptr;
}

const uint8_t* NoiseCache::make(const VocabularyKernels& kernels, const NoiseKey& key, int vocabulary) {
  if (const uint8_t* known = find(key, vocabulary)) return known;
  Row& row = *std::ranges::min_element(rows_, {}, &Row::used);
  const int64_t blocks = scan_blocks(vocabulary);
  row.levels.resize(static_cast<size_t>(blocks * kScanBlock));
  kernels.noise_levels(key, blocks, row.levels.data());
  row.key = key;
  row.vocabulary = vocabulary;
  row.used = ++clock_;
  return row.levels.data();
}

}  // namespace slipstream
