#include "common/speculation/survival_curve.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

constexpr double kBin = 1.0 / kCalibrationBins;

constexpr double middle(size_t bin) { return (static_cast<double>(bin) + 0.5) * kBin; }

}  // namespace

constinit const SurvivalCurve::Bins SurvivalCurve::kDrafterIsRight = [] {
  Bins middles{};
  for (size_t bin = 0; bin < middles.size(); ++bin) middles[bin] = static_cast<float>(middle(bin));
  return middles;
}();

size_t survival_bin(double survival) {
  return static_cast<size_t>(std::clamp(static_cast<int>(survival * kCalibrationBins), 0, kCalibrationBins - 1));
}

// Pool adjacent violators: blocks of bins, each with its mean and weight. A bin that is below the
// block before it joins it, until the means rise.
void SurvivalCurve::fit(const Cells& cells, const Bins& prior) {
  struct Block {
    double mean = 0, weight = 0;
    size_t bins = 0;
  };
  std::array<Block, kCalibrationBins> blocks;
  size_t count = 0;
  for (size_t bin = 0; bin < kCalibrationBins; ++bin) {
    const Cell& cell = cells[bin];
    const double weight = kCalibrationPrior + cell.tried;
    Block block{(kCalibrationPrior * static_cast<double>(prior[bin]) + cell.accepted) / weight, weight, 1};
    for (; count > 0 && blocks[count - 1].mean > block.mean; --count) {
      const Block& before = blocks[count - 1];
      const double both = before.weight + block.weight;
      block = {(before.mean * before.weight + block.mean * block.weight) / both, both, before.bins + block.bins};
    }
    blocks[count++] = block;
  }
  size_t bin = 0;
  for (size_t at = 0; at < count; ++at) {
    for (const size_t end = bin + blocks[at].bins; bin < end; ++bin) seen_[bin] = static_cast<float>(blocks[at].mean);
  }
}

// Below the middle of the first bin the line goes to (0, 0); behind that of the last bin it is
// flat.
float SurvivalCurve::chance(float survival) const {
  const double place = survival * kCalibrationBins - 0.5;
  if (place <= 0) return static_cast<float>(seen_.front() * (place + 0.5) * 2);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= kCalibrationBins) return seen_.back();
  return std::lerp(seen_[below], seen_[below + 1], static_cast<float>(place - static_cast<double>(below)));
}

float SurvivalCurve::survival_of(float chance) const {
  if (chance > seen_.back()) return 2;
  if (chance <= seen_.front())
    return seen_.front() > 0 ? std::max(chance, 0.0F) / seen_.front() * static_cast<float>(middle(0)) : 0;
  const auto above = static_cast<size_t>(std::ranges::lower_bound(seen_, chance) - seen_.begin());
  const float low = seen_[above - 1], high = seen_[above];
  return static_cast<float>(middle(above - 1) + kBin * static_cast<double>((chance - low) / (high - low)));
}

}  // namespace slipstream
