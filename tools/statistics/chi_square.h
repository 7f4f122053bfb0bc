// Pearson's test of counts against an exact distribution, and how surely it would catch a given
// error (its power).
#pragma once

#include <span>

namespace slipstream::statistics {

struct ChiSquare {
  double statistic = 0;
  int degrees = 0;  // of freedom; 0: one cell, nothing to compare
  double p_value = 1;
};

// observed, expected: [cells] counts; the expected ones sum to the observed ones. Cells that expect
// fewer than five are put together, and with the least of the others where together they still do.
// What was observed though it cannot be has the p-value 0.
ChiSquare chi_square(std::span<const double> observed, std::span<const double> expected);

// The chance that the test at level alpha rejects, were the truth `truth` [cells] and not
// `distribution` [cells] (probabilities), after so many draws. Cells are put together as the test
// does.
double power(std::span<const double> distribution, std::span<const double> truth, double draws, double alpha);

}  // namespace slipstream::statistics
