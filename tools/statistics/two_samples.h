// Tests whether two samples follow one distribution: Pearson's test of homogeneity over counts by
// category. The distribution is unknown, so cells are pooled from both samples together: which side
// a count comes from has no influence before the test itself.
//
// The power is stated for the worst case. Among all shifts of total variation t = sum |p - q| / 2,
// the one that moves every cell by the same fraction of itself, half of the mass up and half down,
// has the smallest noncentrality. For n draws of each side it is at least 2 n t^2, by
// Cauchy-Schwarz: sum (p - q)^2 / mean >= (sum |p - q|)^2 = 4 t^2.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/statistics/chi_square.h"

namespace slipstream::statistics {

// How often each side drew one category.
struct Pair {
  double reference = 0;
  double candidate = 0;
  double both() const { return reference + candidate; }
};

// Categories that are counted together.
struct Cell {
  std::vector<size_t> categories;  // indices into the argument of pool()
  Pair count;
};

inline constexpr double kBothMin = 10;   // counts of both sides together: five expected on each if the sides are equally large
inline constexpr size_t kCellsMax = 64;  // more cells need more draws: the power depends on shift^2 / sqrt(cells)

// Makes cells without looking at the side of a count:
//   1. The kCellsMax - 1 categories with the most draws stay cells of their own if they have at least kBothMin. Of
//      equal counts, the lower index wins.
//   2. All others form one cell, the last one.
//   3. If that has fewer than kBothMin, it joins the rarest of the others.
std::vector<Cell> pool(std::span<const Pair> categories);

// REQUIRES: both sides have draws. With fewer than two cells: p-value 1 and 0 degrees.
ChiSquare compare(std::span<const Cell> cells);

// Returns the draws of each side with which the test at level alpha rejects with at least this
// power, if the distributions are `shift` apart (total variation over the cells), in whatever
// direction.
double draws_for(int degrees, double alpha, double power, double shift);
// The inverse: the shift that `draws` of each side find. For sides of unequal size, pass their
// harmonic mean.
double shift_found(int degrees, double alpha, double power, double draws);

}  // namespace slipstream::statistics
