#include "common/sampling/row_scan.h"

#include <algorithm>
#include <limits>

#include "common/sampling/noise.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
// The bound of one full block; counts what is unusable. Plain arrays and fixed trip counts, so that all of it vectorises.
[[gnu::always_inline]] inline float bound_of(const float* logits, float scale, const uint8_t* levels, int32_t& unusable) {
  float bound[kScanBlock];
  for (int i = 0; i < kScanBlock; ++i) {
    const float scaled = logits[i] * scale;
    unusable += !(scaled <= std::numeric_limits<float>::max());
    bound[i] = scaled + static_cast<float>(levels[i]) * static_cast<float>(kNoiseLevelNats);
  }
  for (int width = kScanBlock / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) bound[i] = bound[i] > bound[i + width] ? bound[i] : bound[i + width];
  }
  return bound[0];
}

constexpr uint8_t kNoLevels[kScanBlock] = {};

}  // namespace

RowScan scan_row(std::span<const float> logits, float scale, const uint8_t* levels, std::vector<float>& bounds) {
  const size_t blocks = (logits.size() + kScanBlock - 1) / kScanBlock;
  bounds.resize(blocks);
  constexpr auto loop = [](const float* row, size_t size, float by, const uint8_t* noise,
                           float* out) __attribute__((always_inline)) {
    int32_t unusable = 0;
    const size_t full = size / kScanBlock;
    for (size_t b = 0; b < full; ++b) {
      out[b] = bound_of(row + b * kScanBlock, by, noise != nullptr ? noise + b * kScanBlock : kNoLevels, unusable);
    }
    if (const size_t rest = size % kScanBlock; rest != 0) {
      float padded[kScanBlock];
      std::fill_n(padded, kScanBlock, kMasked);
      std::copy_n(row + full * kScanBlock, rest, padded);
      out[full] = bound_of(padded, by, noise != nullptr ? noise + full * kScanBlock : kNoLevels, unusable);
    }
    return unusable == 0;
  };
  const bool usable = on_vectors<loop>(logits.data(), logits.size(), scale, levels, bounds.data());
  const float highest = std::ranges::max(bounds);
  return {.highest = highest, .finite = usable && highest > kMasked};
}

}  // namespace slipstream
