#include "common/statistics/chi_square.h"

#include "common/statistics/chi_square_law.h"

namespace slipstream::statistics {
namespace {

constexpr double kExpectedMin = 5;

}  // namespace

ChiSquare chi_square(std::span<const double> observed, std::span<const double> expected) {
  ChiSquare result;
  int cells = 0;
  double few_observed = 0;
  double few_expected = 0;
  const auto add = [&](double o, double e) {
    result.statistic += (o - e) * (o - e) / e;
    ++cells;
  };
  for (size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] >= kExpectedMin) {
      add(observed[i], expected[i]);
    } else {
      few_observed += observed[i];
      few_expected += expected[i];
    }
  }
  if (few_expected > 0) add(few_observed, few_expected);
  result.degrees = cells - 1;
  result.p_value = result.degrees > 0 ? chi_square_tail(result.statistic, result.degrees) : 1;
  return result;
}

double power(std::span<const double> law, std::span<const double> truth, double draws, double alpha) {
  double noncentrality = 0;
  for (size_t i = 0; i < law.size(); ++i) noncentrality += draws * (truth[i] - law[i]) * (truth[i] - law[i]) / law[i];
  const int degrees = static_cast<int>(law.size()) - 1;
  return noncentral_tail(critical_value(degrees, alpha), degrees, noncentrality);
}

}  // namespace slipstream::statistics
