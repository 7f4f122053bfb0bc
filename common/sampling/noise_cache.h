// The noise levels (noise.h) of whole vocabularies, kept for the rows that share an output
// position: siblings of a tree draw the same noise. May be filled while waiting. Not thread-safe;
// allocates only while it grows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/vocabulary.h"
#include "kernels/exact/noise.h"

namespace slipstream {

// Positions, one byte a token each: the trees of about a dozen sequences, so that what one step
// made the next one finds.
inline constexpr int kNoiseRowsKept = 128;

class NoiseCache {
 public:
  // [vocabulary, rounded up to 64] levels, or null when they were not made before. Valid until the
  // next make().
  const uint8_t* find(const NoiseKey& key, int vocabulary);
  // The same, made now if need be in place of those unused for longest.
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
