#include "tools/statistics/chi_square.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tools/statistics/chi_square_distribution.h"

namespace slipstream::statistics {
namespace {

constexpr double kExpectedMin = 5;

struct Against {
  double found = 0, expected = 0;
};

// Pools cells for the test:
//   1. Cells that expect at least kExpectedMin stay.
//   2. The others form one cell; if it expects less than kExpectedMin, it joins the cell that expects least.
//   3. Cells that expect 0 form a cell of their own, if anything was found there.
std::vector<Against> pooled(std::span<const double> found, std::span<const double> expected, double draws) {
  std::vector<Against> cells;
  Against few, impossible;
  for (size_t i = 0; i < found.size(); ++i) {
    const Against cell{draws * found[i], draws * expected[i]};
    if (cell.expected >= kExpectedMin) {
      cells.push_back(cell);
    } else {
      Against& to = cell.expected == 0 ? impossible : few;
      to.found += cell.found;
      to.expected += cell.expected;
    }
  }
  if (few.expected >= kExpectedMin || (few.expected > 0 && cells.empty())) {
    cells.push_back(few);
  } else if (few.expected > 0) {
    const auto least = std::ranges::min_element(cells, {}, &Against::expected);
    least->found += few.found;
    least->expected += few.expected;
  }
  if (impossible.found > 0) cells.push_back(impossible);
  return cells;
}

// Infinite if something was found in a cell of probability 0.
double statistic(const std::vector<Against>& cells) {
  double sum = 0;
  for (const Against& cell : cells) {
    if (cell.expected == 0) return std::numeric_limits<double>::infinity();
    sum += (cell.found - cell.expected) * (cell.found - cell.expected) / cell.expected;
  }
  return sum;
}

}  // namespace

ChiSquare chi_square(std::span<const double> observed, std::span<const double> expected) {
  const std::vector<Against> cells = pooled(observed, expected, 1);
  ChiSquare result{.statistic = statistic(cells), .degrees = static_cast<int>(cells.size()) - 1, .p_value = 1};
  if (result.statistic == std::numeric_limits<double>::infinity()) {
    result.p_value = 0;
  } else if (result.degrees > 0) {
    result.p_value = chi_square_tail(result.statistic, result.degrees);
  }
  return result;
}

double power(std::span<const double> distribution, std::span<const double> truth, double draws, double alpha) {
  const std::vector<Against> cells = pooled(truth, distribution, draws);
  const double noncentrality = statistic(cells);
  if (noncentrality == std::numeric_limits<double>::infinity()) return 1;
  const int degrees = static_cast<int>(cells.size()) - 1;
  return degrees > 0 ? noncentral_tail(critical_value(degrees, alpha), degrees, noncentrality) : 0;
}

}  // namespace slipstream::statistics
