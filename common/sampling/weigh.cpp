#include "common/sampling/weigh.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "common/sampling/fixed_weight.h"
#include "common/sampling/row_scan.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

// exp(x) for x <= 0: within 2^-22 + e of itself down to x = -40, where e is half an ulp of x (the product k ln 2 is rounded as
// x was); below 2^-56 from there on. The polynomial goes through exp at six Chebyshev points and is within 2.3e-7 in floats.
[[gnu::always_inline]] inline float quick_exp(float x) {
  constexpr float kRound = 0x1.8p23F;
  x = x > -40.0F ? x : -40.0F;
  const float shifted = x * 0x1.715476p+0F + kRound;  // x / ln 2
  const float k = shifted - kRound;
  const float r = x - k * 0x1.62E430p-1F;
  float sum = 0x1.123D90p-7F;
  sum = sum * r + 0x1.57637Ep-5F;
  sum = sum * r + 0x1.55547Cp-3F;
  sum = sum * r + 0x1.FFFD08p-2F;
  sum = sum * r + 0x1.000000p+0F;
  sum = sum * r + 0x1.000002p+0F;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(sum) + (std::bit_cast<uint32_t>(shifted) << 23));
}

constexpr int kLanes = 16;

// Adds one full block to the lanes' totals: three additions in floats, then one in doubles.
[[gnu::always_inline]] inline void add_block(const float* logits, float scale, float highest, double* totals) {
  float sums[kLanes] = {};
  for (int start = 0; start < kScanBlock; start += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += quick_exp(logits[start + lane] * scale - highest);
  }
  for (int lane = 0; lane < kLanes; ++lane) totals[lane] += static_cast<double>(sums[lane]);
}

// work(block): of 64 logits; the last one may be padded with masked tokens.
template <class Work>
[[gnu::always_inline]] inline void each_block(const float* row, size_t size, Work work) {
  const size_t full = size / kScanBlock;
  for (size_t b = 0; b < full; ++b) work(row + b * kScanBlock);
  if (const size_t rest = size % kScanBlock; rest != 0) {
    float padded[kScanBlock];
    std::fill_n(padded, kScanBlock, -std::numeric_limits<float>::infinity());
    std::copy_n(row + full * kScanBlock, rest, padded);
    work(padded);
  }
}

}  // namespace

uint64_t weigh(std::span<const float> scaled, float highest, uint64_t* weights) {
  constexpr auto loop = [](const float* row, size_t size, float most, uint64_t* out) __attribute__((always_inline)) {
    uint64_t total = 0;
    for (size_t i = 0; i < size; ++i) {
      out[i] = fixed_weight(static_cast<double>(row[i]) - static_cast<double>(most));
      total += out[i];
    }
    return total;
  };
  return on_vectors<loop>(scaled.data(), scaled.size(), highest, weights);
}

uint64_t weigh_row(std::span<const float> logits, float scale, float highest) {
  constexpr auto loop = [](const float* row, size_t size, float by, float most) __attribute__((always_inline)) {
    uint64_t totals[kLanes] = {};
    each_block(row, size, [&](const float* block) __attribute__((always_inline)) {
      uint64_t weights[kScanBlock];
      for (int i = 0; i < kScanBlock; ++i)
        weights[i] = fixed_weight(static_cast<double>(block[i] * by) - static_cast<double>(most));
      for (int i = 0; i < kScanBlock; ++i) totals[i % kLanes] += weights[i];
    });
    return std::accumulate(totals, totals + kLanes, uint64_t{0});
  };
  return on_vectors<loop>(logits.data(), logits.size(), scale, highest);
}

WeightBounds bound_weight(std::span<const float> logits, float scale, float highest) {
  constexpr auto loop = [](const float* row, size_t size, float by, float most) __attribute__((always_inline)) {
    double totals[kLanes] = {};
    each_block(row, size, [&](const float* block) __attribute__((always_inline)) { add_block(block, by, most, totals); });
    return std::accumulate(totals, totals + kLanes, 0.0);
  };
  const double weight = on_vectors<loop>(logits.data(), logits.size(), scale, highest) * kWeightOne;
  // Relative: down to x = -16 quick_exp errs by less than 2^-22 + 2^-21, and so much more that ln 2 is rounded, 2^-24; x itself
  // is rounded, 2^-21; so are four additions, 2^-22: together below 2^-19. All tokens below weigh less than 2^18 exp(-16) <
  // 1/32 of the highest, and err by three times as much. Absolute: each exact weight is rounded to within 2, and those below
  // the range count as up to 2^-56, 2^-12 of a unit.
  const double slack = weight * 0x1p-18 + 4.0 * static_cast<double>(logits.size());
  return {.least = static_cast<uint64_t>(std::max(weight - slack, 0.0)), .most = static_cast<uint64_t>(weight + slack) + 1};
}

}  // namespace slipstream
