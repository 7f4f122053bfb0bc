#include "kernels/cpu/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/exact/exp_fixed.h"
#include "tests/unit/kernels/cpu/random_row.h"

namespace slipstream {
namespace {

float random_scale(std::mt19937_64& random) {
  constexpr float kTemperatures[] = {0.01F, 0.3F, 0.7F, 1.0F, 1.3F, 2.0F};
  return 1.0F / kTemperatures[random() % std::size(kTemperatures)];
}

std::vector<float> scaled_row(const std::vector<float>& logits, float scale) {
  std::vector<float> scaled;
  for (const float logit : logits) scaled.push_back(logit * scale);
  return scaled;
}

// Each path's kernels beside plain loops, to the bit.
class Vocabulary : public testing::TestWithParam<CpuPath> {
 protected:
  const VocabularyKernels& kernels_ = vocabulary_kernels(GetParam());
};
INSTANTIATE_TEST_SUITE_P(, Vocabulary, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& path) { return name(path.param); });

TEST_P(Vocabulary, ExpSumBoundsHoldTheSum) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<float> logits = random_row(random);
    const float scale = random_scale(random);
    const std::vector<float> scaled = scaled_row(logits, scale);
    const float highest = std::ranges::max(scaled);
    if (!std::isfinite(highest)) continue;
    const auto size = std::ssize(logits);
    std::vector<uint64_t> each(scaled.size());
    uint64_t total = 0;
    for (const float value : scaled) total += exp_fixed(static_cast<double>(value) - static_cast<double>(highest));
    ASSERT_EQ(kernels_.exp_each(scaled.data(), size, highest, each.data()), total);
    for (size_t at = 0; at < each.size(); ++at) {
      ASSERT_EQ(each[at], exp_fixed(static_cast<double>(scaled[at]) - static_cast<double>(highest)));
    }
    ASSERT_EQ(kernels_.exp_sum(logits.data(), size, scale, highest), total);
    const ExpSumBounds bounds = kernels_.exp_sum_bounds(logits.data(), size, scale, highest);
    ASSERT_LE(bounds.least, total) << size << " logits";
    ASSERT_GE(bounds.most, total) << size << " logits";
    ASSERT_LE(bounds.most - bounds.least, total / 100'000 + 8 * logits.size() + 1) << size << " logits";
  }
}

TEST_P(Vocabulary, ExpSumBoundsAreEqualOnEveryPath) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<float> logits = random_row(random);
    const float scale = random_scale(random), highest = std::ranges::max(scaled_row(logits, scale));
    if (!std::isfinite(highest)) continue;
    const auto bounds = kernels_.exp_sum_bounds(logits.data(), std::ssize(logits), scale, highest);
    const auto plain = kPortableVocabulary.exp_sum_bounds(logits.data(), std::ssize(logits), scale, highest);
    ASSERT_EQ(bounds.least, plain.least);
    ASSERT_EQ(bounds.most, plain.most);
  }
}

TEST_P(Vocabulary, ScanBoundsEachBlock) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> logits = random_row(random);
    if (random() % 8 == 0) logits[random() % logits.size()] = random() % 2 == 0 ? NAN : INFINITY;
    const float scale = random_scale(random);
    const auto blocks = static_cast<size_t>(scan_blocks(std::ssize(logits)));
    std::vector<uint8_t> levels(blocks * kScanBlock);
    for (uint8_t& level : levels) level = static_cast<uint8_t>(random() % (kNoiseLevelMax + 1));
    const bool noisy = random() % 2 == 0;
    std::vector<float> bounds(blocks), expected(blocks, -INFINITY);
    bool usable = true;
    for (size_t at = 0; at < logits.size(); ++at) {
      const float level = static_cast<float>(levels[at]) * static_cast<float>(kNoiseLevelNats);
      const float scaled = logits[at] * scale;
      usable = usable && scaled < INFINITY;
      expected[at / kScanBlock] = std::max(expected[at / kScanBlock], noisy ? scaled + level : scaled);
    }
    const RowScan scan =
        kernels_.scan(logits.data(), std::ssize(logits), scale, noisy ? levels.data() : nullptr, bounds.data());
    ASSERT_EQ(scan.finite, usable && std::ranges::max(expected) > -INFINITY);
    if (!scan.finite) continue;
    ASSERT_EQ(bounds, expected);
    ASSERT_EQ(scan.highest, std::ranges::max(expected));
  }
}

TEST_P(Vocabulary, ListsWhatReachesTheFloor) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<float> logits = random_row(random);
    const float scale = random_scale(random);
    const std::vector<float> scaled = scaled_row(logits, scale);
    std::vector<float> block_max(static_cast<size_t>(scan_blocks(std::ssize(logits))));
    const RowScan scan = kernels_.scan(logits.data(), std::ssize(logits), scale, nullptr, block_max.data());
    if (!scan.finite) continue;
    const float floor = random() % 4 == 0 ? -INFINITY : scaled[random() % scaled.size()];
    std::vector<int32_t> ids(logits.size() + kListRoom), expected;
    std::vector<float> values(ids.size());
    for (size_t at = 0; at < scaled.size(); ++at) {
      if (scaled[at] >= floor && scaled[at] > -INFINITY) expected.push_back(static_cast<int32_t>(at));
    }
    const int64_t listed = kernels_.list({.logits = logits.data(),
                                          .vocabulary = std::ssize(logits),
                                          .scale = scale,
                                          .floor = floor,
                                          .block_max = block_max.data(),
                                          .ids = ids.data(),
                                          .scaled = values.data()});
    ASSERT_EQ(listed, std::ssize(expected));
    for (size_t at = 0; at < expected.size(); ++at) {
      ASSERT_EQ(ids[at], expected[at]);
      ASSERT_EQ(values[at], scaled[static_cast<size_t>(expected[at])]);
    }
  }
}

TEST_P(Vocabulary, NoiseLevelsAreThoseOfTheScalarWords) {
  const NoiseKey key{0x0123456789ABCDEFull, 3, 77, NoisePurpose::coupled};
  std::vector<uint8_t> levels(81 * kScanBlock);
  kernels_.noise_levels(key, 81, levels.data());
  for (size_t token = 0; token < levels.size(); ++token) {
    ASSERT_EQ(levels[token], noise_level(noise_word(key, static_cast<uint32_t>(token), 0)));
  }
}

}  // namespace
}  // namespace slipstream
