#include "tools/statistics/two_samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "tools/statistics/chi_square_distribution.h"

namespace slipstream::statistics {
namespace {

void join(Cell& cell, Cell other) {
  std::ranges::move(other.categories, std::back_inserter(cell.categories));
  cell.count.reference += other.count.reference;
  cell.count.candidate += other.count.candidate;
}

}  // namespace

std::vector<Cell> pool(std::span<const Pair> categories) {
  std::vector<size_t> order(categories.size());
  // Stable, so that ties keep the lower index: cells must not depend on the side.
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return categories[a].both() > categories[b].both(); });
  std::vector<Cell> cells;
  Cell rest;
  for (size_t category : order) {
    Cell one{{category}, categories[category]};
    if (one.count.both() >= kBothMin && cells.size() < kCellsMax - 1) {
      cells.push_back(std::move(one));
    } else {
      join(rest, std::move(one));
    }
  }
  if (rest.categories.empty()) return cells;
  if (rest.count.both() < kBothMin && !cells.empty()) {
    join(cells.back(), std::move(rest));
  } else {
    cells.push_back(std::move(rest));
  }
  return cells;
}

ChiSquare compare(std::span<const Cell> cells) {
  Pair total;
  for (const Cell& cell : cells) {
    total.reference += cell.count.reference;
    total.candidate += cell.count.candidate;
  }
  ChiSquare result;
  result.degrees = std::max(0, static_cast<int>(cells.size()) - 1);
  if (result.degrees == 0) return result;
  for (const Cell& cell : cells) {
    const double reference = cell.count.both() * total.reference / total.both();
    const double candidate = cell.count.both() * total.candidate / total.both();
    const double off = cell.count.reference - reference;  // the candidate's difference is the same with the other sign
    result.statistic += off * off / reference + off * off / candidate;
  }
  result.p_value = chi_square_tail(result.statistic, result.degrees);
  return result;
}

double draws_for(int degrees, double alpha, double power, double shift) {
  // The worst case of the header: noncentrality = 2 n t^2.
  return std::ceil(noncentrality_for(degrees, alpha, power) / (2 * shift * shift));
}

double shift_found(int degrees, double alpha, double power, double draws) {
  return std::min(1.0, std::sqrt(noncentrality_for(degrees, alpha, power) / (2 * draws)));
}

}  // namespace slipstream::statistics
