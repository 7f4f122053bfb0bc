#include "tools/statistics/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace slipstream::statistics {

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  // Step-down: the smallest p-value is multiplied by the number of tests, the next by one less, and
  // so on. The running maximum keeps the order.
  double most = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    most = std::max(most, p_values[order[rank]] * static_cast<double>(order.size() - rank));
    adjusted[order[rank]] = std::min(1.0, most);
  }
  return adjusted;
}

}  // namespace slipstream::statistics
