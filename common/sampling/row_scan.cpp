#include "common/sampling/row_scan.h"

#include <algorithm>
#include <limits>

#include "common/sampling/fold.h"
#include "common/sampling/noise.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr int kLanes = 16;

// The bound of one full block, by logits alone where there are no levels; counts what is unusable, by lane. Plain arrays and
// fixed trip counts, so that all of it vectorises.
template <bool kLevels>
[[gnu::always_inline]] inline float bound_of(const float* logits, float scale, const uint8_t* levels, int32_t* unusable) {
  float bound[kScanBlock];
  for (int i = 0; i < kScanBlock; ++i) {
    const float scaled = logits[i] * scale;
    bound[i] = kLevels ? scaled + static_cast<float>(levels[i]) * static_cast<float>(kNoiseLevelNats) : scaled;
  }
  for (int start = 0; start < kScanBlock; start += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      unusable[lane] += !(logits[start + lane] * scale <= std::numeric_limits<float>::max());
    }
  }
  return fold<kScanBlock>(bound, [](float a, float b) __attribute__((always_inline)) { return a > b ? a : b; });
}

template <bool kLevels>
bool bound_blocks(std::span<const float> logits, float scale, const uint8_t* levels, float* bounds) {
  constexpr auto loop = [](const float* row, size_t size, float by, const uint8_t* noise,
                           float* out) __attribute__((always_inline)) {
    int32_t unusable[kLanes] = {};
    const size_t full = size / kScanBlock;
    for (size_t b = 0; b < full; ++b) {
      out[b] = bound_of<kLevels>(row + b * kScanBlock, by, kLevels ? noise + b * kScanBlock : nullptr, unusable);
    }
    if (const size_t rest = size % kScanBlock; rest != 0) {
      float padded[kScanBlock];
      std::fill_n(padded, kScanBlock, kMasked);
      std::copy_n(row + full * kScanBlock, rest, padded);
      out[full] = bound_of<kLevels>(padded, by, kLevels ? noise + full * kScanBlock : nullptr, unusable);
    }
    return std::all_of(unusable, unusable + kLanes, [](int32_t count) { return count == 0; });
  };
  return on_vectors<loop>(logits.data(), logits.size(), scale, levels, bounds);
}

}  // namespace

RowScan scan_row(std::span<const float> logits, float scale, const uint8_t* levels, std::vector<float>& bounds) {
  const size_t blocks = (logits.size() + kScanBlock - 1) / kScanBlock;
  bounds.resize(blocks);
  const bool usable = levels != nullptr ? bound_blocks<true>(logits, scale, levels, bounds.data())
                                        : bound_blocks<false>(logits, scale, nullptr, bounds.data());
  const float highest = std::ranges::max(bounds);
  return {.highest = highest, .finite = usable && highest > kMasked};
}

}  // namespace slipstream
