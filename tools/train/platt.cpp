#include "tools/train/platt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slipstream::train {
namespace {

constexpr int kNewtonSteps = 50;
constexpr double kPull = 1e-3;    // towards the line that changes nothing, as weak as a thousandth of an example
constexpr double kStepMax = 2.0;  // of slope or offset: Newton's steps may overshoot where outcomes are rare
constexpr double kConverged = 1e-9;

}  // namespace

PlattLine fit_platt(std::span<const float> logits, std::span<const float> seen) {
  PlattLine line;
  for (int step = 0; step < kNewtonSteps; ++step) {
    double slope = kPull * (line.slope - 1), offset = kPull * line.offset;  // the gradient
    double slopes = kPull, mixed = 0, offsets = kPull;                      // the matrix of second derivatives
    for (size_t i = 0; i < logits.size(); ++i) {
      const double p = 1 / (1 + std::exp(-(line.slope * logits[i] + line.offset))), curve = p * (1 - p);
      slope += (p - seen[i]) * logits[i];
      offset += p - seen[i];
      slopes += curve * logits[i] * logits[i];
      mixed += curve * logits[i];
      offsets += curve;
    }
    const double determinant = slopes * offsets - mixed * mixed;
    const double by_slope = std::clamp((offsets * slope - mixed * offset) / determinant, -kStepMax, kStepMax);
    const double by_offset = std::clamp((slopes * offset - mixed * slope) / determinant, -kStepMax, kStepMax);
    line.slope -= by_slope;
    line.offset -= by_offset;
    if (std::abs(by_slope) + std::abs(by_offset) < kConverged) break;
  }
  return line;
}

}  // namespace slipstream::train
