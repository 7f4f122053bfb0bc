#include "common/sampling/row_scan.h"

#include <algorithm>
#include <limits>

#include "common/sampling/noise.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr int kLanes = 16;

// Running maxima in lanes, so that the loops below vectorise; a maximum does not depend on the order.
struct Lanes {
  float value[kLanes];
  Lanes() { std::fill_n(value, kLanes, kMasked); }
  [[gnu::always_inline]] float max() const {
    float half[kLanes];
    std::copy_n(value, kLanes, half);
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) half[i] = half[i] > half[i + width] ? half[i] : half[i + width];
    }
    return half[0];
  }
};

struct Scan {
  Lanes top;
  int32_t unusable[kLanes] = {};

  // The bound of one full block.
  [[gnu::always_inline]] float block(const float* logits, float scale, const uint8_t* levels) {
    Lanes bound;
    for (int at = 0; at < kScanBlock; at += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        const float scaled = logits[at + i] * scale;
        unusable[i] |= !(scaled <= std::numeric_limits<float>::max());
        top.value[i] = scaled > top.value[i] ? scaled : top.value[i];
        const float with = scaled + static_cast<float>(levels[at + i]) * static_cast<float>(kNoiseLevelNats);
        bound.value[i] = with > bound.value[i] ? with : bound.value[i];
      }
    }
    return bound.max();
  }
};

constexpr uint8_t kNoLevels[kScanBlock] = {};

}  // namespace

RowScan scan_row(std::span<const float> logits, float scale, const uint8_t* levels, std::vector<float>& bounds) {
  const size_t blocks = (logits.size() + kScanBlock - 1) / kScanBlock;
  bounds.resize(blocks);
  constexpr auto loop = [](const float* row, size_t size, float by, const uint8_t* noise,
                           float* out) __attribute__((always_inline)) {
    Scan scan;
    const size_t full = size / kScanBlock;
    for (size_t b = 0; b < full; ++b) {
      out[b] = scan.block(row + b * kScanBlock, by, noise != nullptr ? noise + b * kScanBlock : kNoLevels);
    }
    if (const size_t rest = size % kScanBlock; rest != 0) {
      float padded[kScanBlock];
      std::fill_n(padded, kScanBlock, kMasked);
      std::copy_n(row + full * kScanBlock, rest, padded);
      out[full] = scan.block(padded, by, noise != nullptr ? noise + full * kScanBlock : kNoLevels);
    }
    const bool unusable = std::any_of(scan.unusable, scan.unusable + kLanes, [](int32_t bad) { return bad != 0; });
    const float max = scan.top.max();
    return RowScan{max, !unusable && max > kMasked};
  };
  return on_vectors<loop>(logits.data(), logits.size(), scale, levels, bounds.data());
}

}  // namespace slipstream
