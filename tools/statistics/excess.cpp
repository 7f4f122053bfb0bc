#include "tools/statistics/excess.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/statistics/chi_square_distribution.h"
#include "tools/statistics/two_samples.h"

namespace slipstream::statistics {
namespace {

constexpr double kWrongSide = 0.170;  // max of x Phi(-x), at x = 0.752
constexpr double kEventVaries = 0.5;  // largest standard deviation of an event's indicator
constexpr size_t kHalves = 2;

double normal_tail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

// The value that a standard normal variable exceeds with chance alpha <= 1/2: z^2 is chi-square
// with 1 degree.
double normal_quantile(double alpha) { return std::sqrt(critical_value(1, 2 * alpha)); }

struct Mean {
  double value = 0;
  double variance = 0;  // of the mean; at least as large as if one draw had differed
};

template <class Of>
Mean mean(size_t begin, size_t end, const Of& of) {
  const auto count = static_cast<double>(end - begin);
  double sum = 0, squares = 0;
  for (size_t i = begin; i < end; ++i) sum += of(i);
  const double average = sum / count;
  for (size_t i = begin; i < end; ++i) squares += (of(i) - average) * (of(i) - average);
  // If all draws are equal, the sample variance is 0 and any shift would be significant; hence the
  // lower bound.
  return {average, std::max(squares / (count - 1) / count, 1 / (count * count))};
}

// Chooses the event from the first half of the draws: [categories] true if it belongs to the event.
// Sets `cells` to the number of cells to choose from; rare categories form one.
std::vector<bool> choose(std::span<const size_t> reference, std::span<const size_t> candidate, size_t categories,
                         size_t& cells) {
  std::vector<Pair> counts(categories);
  for (const size_t category : reference) counts[category].reference += 1;
  for (const size_t category : candidate) counts[category].candidate += 1;
  const std::vector<Cell> pooled = pool(counts);  // categories with no draws in this half are rare, too
  cells = pooled.size();
  std::vector<bool> event(categories, false);
  for (const Cell& cell : pooled) {
    const bool more = cell.count.candidate * static_cast<double>(reference.size()) >
                      cell.count.reference * static_cast<double>(candidate.size());
    for (const size_t category : cell.categories) event[category] = more;
  }
  return event;
}

// The excess that is found, from the two parts of the header's formula: the test on the second
// half, and the unlucky choice of the event. half: draws of each side in a half.
double found_by(const Excess& of, double alpha, double power, double half) {
  const double deviations = normal_quantile(alpha) + normal_quantile(1 - power);
  const double variance = kEventVaries * kEventVaries + (kEventVaries + of.varies) * (kEventVaries + of.varies);
  return deviations * std::sqrt(variance / half) + kWrongSide * std::sqrt(2 * static_cast<double>(of.cells) / half);
}

}  // namespace

Excess excess(std::span<const size_t> reference, std::span<const size_t> candidate, std::span<const double> declared) {
  const size_t first_r = reference.size() / kHalves, first_c = candidate.size() / kHalves;
  if (first_r < 2 || first_c < 2) return {};
  const size_t categories = 1 + std::max(std::ranges::max(reference), std::ranges::max(candidate));
  Excess result;
  const std::vector<bool> event = choose(reference.first(first_r), candidate.first(first_c), categories, result.cells);
  const auto hit = [&event](size_t category) { return event[category] ? 1.0 : 0.0; };
  const Mean of_reference = mean(first_r, reference.size(), [&](size_t i) { return hit(reference[i]); });
  const Mean of_candidate = mean(first_c, candidate.size(), [&](size_t i) { return hit(candidate[i]) - declared[i]; });
  const Mean of_declared = mean(first_c, candidate.size(), [&](size_t i) { return declared[i]; });
  result.declared = of_declared.value;
  result.varies = std::sqrt(of_declared.variance * static_cast<double>(candidate.size() - first_c));
  result.shift = of_candidate.value + result.declared - of_reference.value;
  result.error = std::sqrt(of_reference.variance + of_candidate.variance);
  if (result.cells > 1) result.p_value = normal_tail((of_candidate.value - of_reference.value) / result.error);
  return result;
}

double excess_found(const Excess& of, double alpha, double power, double draws) {
  return std::min(1.0, found_by(of, alpha, power, draws / kHalves));
}

double draws_for_excess(const Excess& of, double alpha, double power, double shift) {
  const double of_one = found_by(of, alpha, power, 1);  // proportional to 1 / sqrt(draws)
  return std::ceil(kHalves * of_one * of_one / (shift * shift));
}

}  // namespace slipstream::statistics
