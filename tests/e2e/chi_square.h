// Pearson's test of counts against an exact law, and how surely it would catch a given error (its power).
#pragma once

#include <span>
#include <vector>

namespace slipstream::e2e {

struct ChiSquare {
  double statistic = 0;
  int degrees = 0;  // of freedom
  double p_value = 1;
};

// observed, expected: [cells] counts; the expected ones sum to the observed ones. Cells that expect fewer than five are put
// together.
ChiSquare chi_square(std::span<const double> observed, std::span<const double> expected);

// The chance that the test at level alpha rejects, were the truth `truth` [cells] and not `law` [cells] (probabilities), after
// so many draws: the non-central chi-square law in its normal approximation.
double power(std::span<const double> law, std::span<const double> truth, double draws, double alpha);

// Q(k/2, x/2): the chance that a chi-square variable of k degrees exceeds x.
double chi_square_tail(double x, int degrees);

}  // namespace slipstream::e2e
