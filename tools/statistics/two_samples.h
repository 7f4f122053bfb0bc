// Do two samples follow one distribution? Pearson's test of homogeneity over counts by category.
// Nothing is known of the distribution, so cells are made of both samples together: who contributed
// what to a count decides nothing before the test itself.
//
// What it finds is stated for the worst case. A shift of total variation t (half the sum of |p - q|
// over the cells) has the least noncentrality where every cell moves by the same part of itself,
// half of the mass up and half down: for n draws a side it is at least 2 n t^2 (Cauchy and Schwarz:
// sum of (p - q)^2 / mean >= (sum of |p - q|)^2 = 4 t^2), and more for any other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/statistics/chi_square.h"

namespace slipstream::statistics {

// How often either side drew one category.
struct Pair {
  double reference = 0;
  double candidate = 0;
  double both() const { return reference + candidate; }
};

// Categories that are counted as one.
struct Cell {
  std::vector<size_t> categories;  // indices into what was pooled
  Pair count;
};

inline constexpr double kBothMin = 10;   // of both sides together: five expected on each, were they equally large
inline constexpr size_t kCellsMax = 64;  // more cells find a shift later: the power goes with its square over sqrt(cells)

// The rule, blind to sides: the kCellsMax - 1 categories with the most draws (ties: the lower
// index) stay cells of their own if they have at least kBothMin; all others are one cell, the last;
// if that has fewer than kBothMin it joins the rarest.
std::vector<Cell> pool(std::span<const Pair> categories);

// Both sides have draws. Fewer than two cells: p-value 1 and no degrees.
ChiSquare compare(std::span<const Cell> cells);

// Draws a side with which the test at level alpha rejects with at least this power, were the
// distributions `shift` apart (total variation over its cells), in whatever direction.
double draws_for(int degrees, double alpha, double power, double shift);
// The other way round: the shift that so many draws find. For unequal sides: their harmonic mean.
double shift_found(int degrees, double alpha, double power, double draws);

}  // namespace slipstream::statistics
