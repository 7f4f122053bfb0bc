#include "research/theory/leviathan.h"

#include <cmath>

#include "common/base/check.h"

namespace slipstream::theory {

double expected_tokens(double alpha, int gamma) {
  return alpha < 1 ? (1 - std::pow(alpha, gamma + 1)) / (1 - alpha) : gamma + 1.0;
}

double walltime_improvement(double alpha, int gamma, double c) { return expected_tokens(alpha, gamma) / (gamma * c + 1); }

double operations_factor(double alpha, int gamma, double c_hat) {
  return (gamma * c_hat + gamma + 1) / expected_tokens(alpha, gamma);
}

// One more draft brings alpha^(gamma + 1) tokens, which decreases, and always costs c. So the
// improvement has a single maximum, and the search can stop at the first decrease.
int best_draft_length(double alpha, double c) {
  CHECK(alpha < 1 && c > 0, "no best length at alpha {} and c {}: longer is always better", alpha, c);
  int gamma = 0;
  while (walltime_improvement(alpha, gamma + 1, c) > walltime_improvement(alpha, gamma, c)) ++gamma;
  return gamma;
}

}  // namespace slipstream::theory
