#include "tools/train/platt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slipstream::train {
namespace {

constexpr int kNewtonSteps = 100;
constexpr int kHalvings = 40;   // of a step, until it lowers the loss: a whole one may overshoot
constexpr double kPull = 1e-3;  // towards the line that changes nothing, as weak as a thousandth of an example
constexpr double kConverged = 1e-9;

// log(1 + exp(x)), without overflow.
double soft_plus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double loss_of(const PlattLine& line, std::span<const float> logits, std::span<const float> seen) {
  double loss = kPull / 2 * (std::pow(line.slope - 1, 2) + std::pow(line.offset, 2));
  for (size_t i = 0; i < logits.size(); ++i) {
    const double x = line.slope * logits[i] + line.offset;
    loss += soft_plus(x) - seen[i] * x;
  }
  return loss;
}

// By how much Newton's method would change the line.
PlattLine newton_step(const PlattLine& line, std::span<const float> logits, std::span<const float> seen) {
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
  return {.slope = -(offsets * slope - mixed * offset) / determinant,
          .offset = -(slopes * offset - mixed * slope) / determinant};
}

}  // namespace

PlattLine fit_platt(std::span<const float> logits, std::span<const float> seen) {
  PlattLine line;
  double loss = loss_of(line, logits, seen);
  for (int step = 0; step < kNewtonSteps; ++step) {
    PlattLine by = newton_step(line, logits, seen);
    PlattLine next;
    double lower = loss;
    for (int halving = 0; halving < kHalvings; ++halving, by.slope /= 2, by.offset /= 2) {
      next = {.slope = line.slope + by.slope, .offset = line.offset + by.offset};
      lower = loss_of(next, logits, seen);
      if (lower < loss) break;
    }
    if (!(lower < loss)) break;
    const double change = std::abs(by.slope) + std::abs(by.offset);
    line = next;
    loss = lower;
    if (change < kConverged) break;
  }
  return line;
}

}  // namespace slipstream::train
