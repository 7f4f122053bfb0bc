// Do two distributions lie no further apart than one of them declares? What is declared is a bound
// on the total variation, told with each of the candidate's draws; its mean is the bound.
//
// The total variation of two distributions is the largest difference in probability of any event.
// So the first half of the draws chooses an event, the categories that the candidate drew more
// often than the reference, and the second half judges it: the candidate's frequency of the event
// less what it declares must not exceed the reference's. That is a one-sided test of two means
// (Welch's, with the normal distribution's tail); that the event was chosen by other draws is what
// makes it one.
#pragma once

#include <cstddef>
#include <span>

namespace slipstream::statistics {

struct Excess {
  size_t cells = 0;     // that the event was chosen of; below two: nothing to compare
  double shift = 0;     // the candidate's frequency of the event less the reference's
  double declared = 0;  // mean
  double varies = 0;    // standard deviation of what one draw declares
  double error = 0;     // standard error of shift - declared
  double p_value = 1;   // of "no more than is declared"
};

// reference, candidate: [draws] the category of each, numbered from 0. declared: [the candidate's
// draws], at least 0.
Excess excess(std::span<const size_t> reference, std::span<const size_t> candidate, std::span<const double> declared);

// The least total variation beyond what is declared that the test at level alpha finds with at
// least this power, whatever its direction, with so many draws a side: `of` has its cells, and how
// what is declared varies. Frequencies are taken to vary as much as those of an event may (by 1/2),
// and the choice of the event to be as unlucky as it may be: a cell that moves by d and has a mass
// of s on both sides together is put on the wrong side with chance Phi(-d sqrt(m / s)) for m draws
// a side in a half, so that it loses at most max x Phi(-x) = 0.170 of sqrt(s / m), and all cells
// together 0.170 sqrt(2 cells / m) (Cauchy and Schwarz).
double excess_found(const Excess& of, double alpha, double power, double draws);
// The other way round: draws a side with which an excess of `shift` is found.
double draws_for_excess(const Excess& of, double alpha, double power, double shift);

}  // namespace slipstream::statistics
