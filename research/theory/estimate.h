// Means of simulations, how sure they are, and how they compare with a formula.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::theory {

inline constexpr double kNormal95 = 1.959963984540054;  // a normal variable is no further off, 95 times in 100

struct Estimate {
  double mean = 0;
  double error = 0;  // standard error of the mean
  uint64_t runs = 0;
  double half_width() const { return kNormal95 * error; }  // of the 95 % confidence interval
};

// Welford's running mean and variance.
class Mean {
 public:
  void add(double value);
  Estimate estimate() const;  // error 0 with fewer than two values

 private:
  uint64_t runs_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Of a share: `times` of `runs`, with the standard error that it has if the theory is right, be
// there events or none; and two events' variance more, for rare ones are further off than a normal
// variable more often than it. 0 where the theory is sure.
Estimate share(uint64_t times, uint64_t runs, double theory);

struct Comparison {
  std::string what;
  double theory = 0;
  Estimate simulated;

  // Between the two; where nothing varies 0 or infinity.
  double standard_errors() const;
  bool inside() const { return standard_errors() <= kNormal95; }  // the 95 % interval
};

// Of a whole set of comparisons: with every formula right, one in twenty is outside of its own 95 %
// interval, and the worst of all is beyond `bound` once in a hundred sets at most (Bonferroni).
struct Agreement {
  size_t comparisons = 0, outside = 0;
  double worst = 0;  // standard errors
  double bound = 0;
  bool holds() const { return worst <= bound; }
};
Agreement agreement(const std::vector<Comparison>& comparisons);

}  // namespace slipstream::theory
