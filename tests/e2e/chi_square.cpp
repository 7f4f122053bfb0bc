#include "tests/e2e/chi_square.h"

#include <cmath>

namespace slipstream::e2e {
namespace {

constexpr double kExpectedMin = 5;
constexpr double kPrecision = 1e-14;
constexpr int kTermsMax = 100000;

// The regularised upper incomplete gamma function: by its series below a + 1, by its continued fraction above.
double gamma_q(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < kTermsMax && std::abs(term) > std::abs(sum) * kPrecision; ++n) sum += term *= x / (a + n);
    return 1 - sum * front;
  }
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < kTermsMax; ++n) {
    const double term = -n * (n - a);
    b += 2;
    d = 1 / (term * d + b);
    c = b + term / c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction * front;
}

double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double critical(int degrees, double alpha) {
  double low = 0;
  double high = degrees + 100 * std::sqrt(2.0 * degrees) + 100;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (chi_square_tail(middle, degrees) > alpha ? low : high) = middle;
  }
  return high;
}

}  // namespace

double chi_square_tail(double x, int degrees) { return gamma_q(degrees / 2.0, x / 2); }

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
  double shift = 0;  // the non-centrality
  for (size_t i = 0; i < law.size(); ++i) shift += draws * (truth[i] - law[i]) * (truth[i] - law[i]) / law[i];
  const int degrees = static_cast<int>(law.size()) - 1;
  return normal_tail((critical(degrees, alpha) - degrees - shift) / std::sqrt(2.0 * (degrees + 2 * shift)));
}

}  // namespace slipstream::e2e
