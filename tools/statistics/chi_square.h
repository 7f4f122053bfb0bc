// Pearson's chi-square test of counts against an exact distribution, and its power: the chance that
// it finds a given error.
#pragma once

#include <span>

namespace slipstream::statistics {

struct ChiSquare {
  double statistic = 0;
  int degrees = 0;  // of freedom; 0: one cell, nothing to compare
  double p_value = 1;
};

// observed, expected: [cells] counts with equal sums. Cells that expect fewer than five are pooled
// into one cell; if that still expects fewer than five, it joins the smallest of the others. A
// count in a cell of probability 0 gives p-value 0.
ChiSquare chi_square(std::span<const double> observed, std::span<const double> expected);

// Returns the chance that the test at level alpha rejects after this number of draws, if they
// follow `truth` while the test assumes `distribution`. Both are [cells] probabilities. Cells are
// pooled as in chi_square().
double power(std::span<const double> distribution, std::span<const double> truth, double draws, double alpha);

}  // namespace slipstream::statistics
