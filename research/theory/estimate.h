// Estimates from simulations: means, their standard errors, and their comparison with a formula.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::theory {

inline constexpr double kNormal95 = 1.959963984540054;  // |standard normal| stays below it with probability 95 %

struct Estimate {
  double mean = 0;
  double error = 0;  // standard error of the mean
  uint64_t runs = 0;
  double half_width() const { return kNormal95 * error; }  // of the 95 % confidence interval
};

// Running mean and variance (Welford).
class Mean {
 public:
  void add(double value);
  Estimate estimate() const;  // with fewer than two values the error is 0

 private:
  uint64_t runs_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Estimates a share as times / runs. Its standard error is that of the theory's binomial
// distribution, so that it is positive even without events. The variance is enlarged by that of two
// events, since rare events exceed a normal bound more often than normal variables. The error is 0
// if the theory is 0 or 1.
Estimate share(uint64_t times, uint64_t runs, double theory);

struct Comparison {
  std::string what;
  double theory = 0;
  Estimate simulated;

  // simulated - theory| in standard errors. If the error is 0: 0 when they agree, else infinity.
  double standard_errors() const;
  bool inside() const { return standard_errors() <= kNormal95; }  // within the 95 % interval
};

// How well a set of comparisons agrees. If every formula is right, one in twenty comparisons lies
// outside its 95 % interval, and the worst exceeds `bound` in at most one of a hundred sets
// (Bonferroni).
struct Agreement {
  size_t comparisons = 0, outside = 0;
  double worst = 0;  // in standard errors
  double bound = 0;
  bool holds() const { return worst <= bound; }
};
Agreement agreement(const std::vector<Comparison>& comparisons);

}  // namespace slipstream::theory
