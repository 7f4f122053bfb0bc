#include "tools/statistics/chi_square_distribution.h"

#include <algorithm>
#include <cmath>

namespace slipstream::statistics {
namespace {

constexpr double kPrecision = 1e-14;
constexpr int kTermsMax = 100000;
constexpr int kHalvings = 200;  // of an interval: enough to reach the last bit
constexpr double kSpread = 12;  // in standard deviations of the Poisson distribution; beyond it less than 1e-30 is left

// The regularised upper incomplete gamma function: by its power series below a + 1, by its
// continued fraction (modified Lentz's method) above. Each converges fast on its side. Logarithms
// keep the factor in front from overflowing.
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

// Bisects for the argument at which a rising function reaches `wanted`. Doubles the upper end until
// it lies beyond.
template <class Rising>
double solve(const Rising& rising, double wanted) {
  double high = 1;
  while (rising(high) < wanted) high *= 2;
  double low = 0;
  for (int i = 0; i < kHalvings && low < high; ++i) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (rising(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

double chi_square_tail(double x, int degrees) { return gamma_q(degrees / 2.0, x / 2); }

double noncentral_tail(double x, int degrees, double noncentrality) {
  if (noncentrality <= 0) return chi_square_tail(x, degrees);
  const double mean = noncentrality / 2;
  const double spread = kSpread * std::sqrt(mean) + kSpread;
  const int first = static_cast<int>(std::max(0.0, mean - spread));
  const int last = static_cast<int>(mean + spread);
  double tail = 0;
  for (int j = first; j <= last; ++j) {
    tail += std::exp(j * std::log(mean) - mean - std::lgamma(j + 1.0)) * chi_square_tail(x, degrees + 2 * j);
  }
  return std::min(tail, 1.0);
}

double critical_value(int degrees, double alpha) {
  return solve([degrees](double x) { return -chi_square_tail(x, degrees); }, -alpha);
}

double noncentrality_for(int degrees, double alpha, double power) {
  const double critical = critical_value(degrees, alpha);
  return solve([&](double noncentrality) { return noncentral_tail(critical, degrees, noncentrality); }, power);
}

}  // namespace slipstream::statistics
