#include "common/sampling/noise_cache.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

const VocabularyKernels& kKernels = best_vocabulary_kernels();

TEST(NoiseCache, MakesTheLevelsOfTheScalarWords) {
  NoiseCache cache;
  const NoiseKey key{0x0123456789ABCDEFull, 3, 77, NoisePurpose::coupled};
  for (int vocabulary : {1, 63, 64, 65, 5000}) {
    const uint8_t* levels = cache.make(kKernels, key, vocabulary);
    for (int token = 0; token < vocabulary; ++token) {
      ASSERT_EQ(levels[token], noise_level(noise_word(key, static_cast<uint32_t>(token), 0)));
    }
  }
}

TEST(NoiseCache, KeepsTheRowsUsedLast) {
  NoiseCache cache;
  const auto key = [](uint32_t position) { return NoiseKey{1, 0, position, NoisePurpose::coupled}; };
  for (uint32_t position = 0; position < kNoiseRowsKept; ++position) cache.make(kKernels, key(position), 100);
  EXPECT_NE(cache.find(key(0), 100), nullptr);
  cache.make(kKernels, key(kNoiseRowsKept), 100);
  EXPECT_NE(cache.find(key(0), 100), nullptr);
  EXPECT_EQ(cache.find(key(1), 100), nullptr);
}

TEST(NoiseCache, ServesNoLargerVocabularyThanItMade) {
  NoiseCache cache;
  cache.make(kKernels, {}, 100);
  EXPECT_NE(cache.find({}, 50), nullptr);
  EXPECT_EQ(cache.find({}, 101), nullptr);
}

}  // namespace
}  // namespace slipstream
