#include "common/speculation/calibration.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

constexpr double kBin = 1.0 / kCalibrationBins;

double middle(size_t bin) { return (static_cast<double>(bin) + 0.5) * kBin; }

size_t bin_of(double probability) {
  return static_cast<size_t>(std::clamp(static_cast<int>(probability * kCalibrationBins), 0, kCalibrationBins - 1));
}

}  // namespace

Calibration::Calibration() {
  for (Range& range : ranges_) regress(range);
}

size_t calibration_range(int depth) {
  const auto at = std::ranges::lower_bound(kCalibrationDepths, depth);
  return static_cast<size_t>(at - kCalibrationDepths.begin());
}

std::string calibration_range_name(size_t range) {
  return range + 1 == kCalibrationDepths.size() ? "deeper" : std::to_string(kCalibrationDepths.at(range));
}

// Pool adjacent violators: blocks of bins, each with its mean and weight. A bin that is below the
// block before it joins it, until the means rise.
void Calibration::regress(Range& range) {
  struct Block {
    double mean = 0, weight = 0;
    size_t bins = 0;
  };
  std::array<Block, kCalibrationBins> blocks;
  size_t count = 0;
  for (size_t bin = 0; bin < kCalibrationBins; ++bin) {
    const Cell& cell = range.cells[bin];
    const double weight = kCalibrationPrior + cell.tried;
    Block block{(kCalibrationPrior * middle(bin) + cell.accepted) / weight, weight, 1};
    for (; count > 0 && blocks[count - 1].mean > block.mean; --count) {
      const Block& before = blocks[count - 1];
      const double both = before.weight + block.weight;
      block = {(before.mean * before.weight + block.mean * block.weight) / both, both, before.bins + block.bins};
    }
    blocks[count++] = block;
  }
  size_t bin = 0;
  for (size_t at = 0; at < count; ++at) {
    for (const size_t end = bin + blocks[at].bins; bin < end; ++bin) range.seen[bin] = static_cast<float>(blocks[at].mean);
  }
}

// Below the middle of the first bin the line goes to (0, 0); behind that of the last bin it is
// flat.
float Calibration::chance(float survival, int depth) const {
  const Bins& seen = ranges_[calibration_range(depth)].seen;
  const double place = survival * kCalibrationBins - 0.5;
  if (place <= 0) return static_cast<float>(seen.front() * (place + 0.5) * 2);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= kCalibrationBins) return seen.back();
  return std::lerp(seen[below], seen[below + 1], static_cast<float>(place - static_cast<double>(below)));
}

float Calibration::survival_of(float chance) const {
  const Bins& seen = ranges_.front().seen;
  if (chance > seen.back()) return 2;
  if (chance <= seen.front())
    return seen.front() > 0 ? std::max(chance, 0.0F) / seen.front() * static_cast<float>(middle(0)) : 0;
  const auto above = static_cast<size_t>(std::ranges::lower_bound(seen, chance) - seen.begin());
  const float low = seen[above - 1], high = seen[above];
  return static_cast<float>(middle(above - 1) + kBin * static_cast<double>((chance - low) / (high - low)));
}

void Calibration::verified(float survival, int depth, bool accepted) {
  Range& range = ranges_[calibration_range(depth)];
  Cell& cell = range.cells[bin_of(survival)];
  cell.tried = kCalibrationMemory * cell.tried + 1;
  cell.accepted = kCalibrationMemory * cell.accepted + (accepted ? 1 : 0);
  regress(range);
  if (--until_fade_ == 0) fade();
}

void Calibration::fade() {
  until_fade_ = kFadeEvery;
  for (Range& range : ranges_) {
    for (Cell& cell : range.cells) {
      cell.tried *= kFadeTo;
      cell.accepted *= kFadeTo;
    }
    regress(range);
  }
}

}  // namespace slipstream
