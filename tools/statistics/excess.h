// Tests whether two distributions lie no further apart than one of them declares. Each of the
// candidate's draws declares a bound on the total variation; the mean of these is the bound that is
// tested.
//
// The total variation of two distributions is the largest difference in probability over all
// events. So:
//   1. The first half of the draws chooses an event: the categories that the candidate drew more often.
//   2. The second half tests it: frequency of the event in the candidate - declared mean <= frequency in the reference.
// Step 2 is a one-sided test of two means (Welch's, with the tail of the normal distribution). It
// is valid because other draws chose the event.
#pragma once

#include <cstddef>
#include <span>

namespace slipstream::statistics {

struct Excess {
  size_t cells = 0;     // cells from which the event was chosen; below two: nothing to compare
  double shift = 0;     // frequency of the event: candidate's - reference's
  double declared = 0;  // mean of the declared bounds
  double varies = 0;    // standard deviation of the declared bounds
  double error = 0;     // standard error of shift - declared
  double p_value = 1;   // of the hypothesis "no more than is declared"
};

// reference, candidate: [draws] category of each draw, numbered from 0. declared: [candidate's
// draws], each >= 0.
Excess excess(std::span<const size_t> reference, std::span<const size_t> candidate, std::span<const double> declared);

// Returns the smallest total variation beyond the declared one that the test at level alpha finds
// with at least this power, in whatever direction, with this number of draws of each side. `of`
// gives the number of cells and how the declared bounds vary. Two worst cases are assumed:
//   1. The frequency of the event varies as much as any can: standard deviation 1/2.
//   2. The choice of the event is as unlucky as possible. With m draws of each side in the first half, a cell that
//      shifts by d and has mass s on both sides together is put on the wrong side with chance Phi(-d sqrt(m / s)). It
//      loses at most sqrt(s / m) * max x Phi(-x) = 0.170 sqrt(s / m), and all cells together lose at most
//      0.170 sqrt(2 cells / m) (Cauchy-Schwarz).
double excess_found(const Excess& of, double alpha, double power, double draws);
// The inverse: draws of each side with which an excess of `shift` is found.
double draws_for_excess(const Excess& of, double alpha, double power, double shift);

}  // namespace slipstream::statistics
