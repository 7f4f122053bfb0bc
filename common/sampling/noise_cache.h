// Caches the noise levels (kernels/exact/noise.h) of whole vocabularies. Rows at the same output
// position of a sequence share their noise, for example the siblings of a tree and the same
// position in the next step. Not thread-safe; allocates only while it grows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/vocabulary.h"
#include "kernels/exact/noise.h"

namespace slipstream {

// Entries, one byte per token of the vocabulary each. They cover the trees of about a dozen
// sequences, so that a step finds the levels that the step before made.
inline constexpr int kNoiseRowsKept = 128;

class NoiseCache {
 public:
  // The levels [vocabulary rounded up to kScanBlock] of a key, or null if the cache does not have
  // them. Valid until the next make().
  const uint8_t* find(const NoiseKey& key, int vocabulary);
  // The same, but computes missing levels. They replace the least recently used entry.
  const uint8_t* make(const VocabularyKernels& kernels, const NoiseKey& key, int vocabulary);

 private:
  struct Row {
    NoiseKey key;
    int vocabulary = 0;
    uint64_t used = 0;
    std::vector<uint8_t> levels;
  };
  std::array<Row, kNoiseRowsKept> rows_;
  uint64_t clock_ = 0;
};

}  // namespace slipstream
