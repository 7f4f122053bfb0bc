#include "common/sampling/choose.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/common/sampling/plain_choose.h"

namespace slipstream {
namespace {

// Rows of all the shapes that bounds could get wrong: flat, peaked, tied, masked, huge, tiny, and lengths off the block size.
std::vector<float> random_row(std::mt19937_64& random) {
  constexpr int kSizes[] = {1, 2, 3, 17, 63, 64, 65, 200, 1000, 4097};
  std::vector<float> row(kSizes[random() % std::size(kSizes)]);
  constexpr float kSpreads[] = {0.0F, 1e-3F, 1.0F, 3.0F, 10.0F, 100.0F, 1e6F, 1e30F};
  std::normal_distribution<float> normal(0, 1);
  const float spread = kSpreads[random() % std::size(kSpreads)], offset = random() % 4 == 0 ? normal(random) * 1e4F : 0;
  const bool tied = random() % 3 == 0, masked = random() % 3 == 0;
  for (float& logit : row) {
    const float drawn = tied ? static_cast<float>(random() % 4) : normal(random);
    logit = masked && random() % 2 == 0 ? -INFINITY : offset + spread * drawn;
  }
  return row;
}

SamplingParams random_params(std::mt19937_64& random) {
  constexpr float kTemperatures[] = {0.01F, 0.3F, 0.7F, 1.0F, 1.0F, 1.3F, 2.0F};
  constexpr float kTopP[] = {1e-6F, 0.1F, 0.5F, 0.9F, 0.95F, 0.999999F};
  constexpr float kMinP[] = {1e-30F, 0.01F, 0.1F, 0.5F, 0.999F};
  SamplingParams params{.temperature = kTemperatures[random() % std::size(kTemperatures)]};
  if (random() % 3 == 0) params.top_k = static_cast<int32_t>(1 + random() % (random() % 2 == 0 ? 5 : 2000));
  if (random() % 3 == 0) params.top_p = kTopP[random() % std::size(kTopP)];
  if (random() % 3 == 0) params.min_p = kMinP[random() % std::size(kMinP)];
  return params;
}

std::string described(const SamplingParams& params, size_t size) {
  return fmt::format("{} logits, temperature {}, top_k {}, top_p {}, min_p {}", size, params.temperature, params.top_k,
                     params.top_p, params.min_p);
}

TEST(Choose, EqualsThePlainLoopOnThousandsOfRandomRows) {
  std::mt19937_64 random(1);
  ChooseScratch scratch;
  for (int i = 0; i < 6000; ++i) {
    const std::vector<float> logits = random_row(random);
    const RowSampling row{random() % 3, static_cast<uint32_t>(random() % 2), static_cast<uint32_t>(random() % 8),
                          random_params(random)};
    ASSERT_EQ(choose(logits, row, scratch), plain::choose(logits, row)) << described(row.params, logits.size());
  }
}

TEST(Chain, KeepsExactlyWhatTheSortKeeps) {
  std::mt19937_64 random(2);
  ChainScratch scratch;
  for (int i = 0; i < 6000; ++i) {
    const std::vector<float> logits = random_row(random);
    const SamplingParams params = random_params(random);
    const std::vector<int32_t> expected = plain::kept(logits, params);
    const auto kept = process(logits, params, scratch);
    ASSERT_EQ(kept.has_value(), !expected.empty());
    if (kept) {
      ASSERT_TRUE(std::ranges::equal(kept->ids, expected)) << described(params, logits.size());
    }
  }
}

}  // namespace
}  // namespace slipstream
