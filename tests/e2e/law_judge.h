// Whether draws of several tokens follow an exact law: Pearson tests at kAlpha each. One a position, given the prefix that was
// drawn, over the ranks of the conditional law (likeliest first); and the last few together, given the prefix before them, in
// cells of their ranks, where the conditional law of a large vocabulary is cut into eight groups of about equal probability.
//
// Counts are compared with the sum of the laws that each draw had, given its prefix. Given it, a count's variance is at most
// that of as many draws from the mean law, so these tests err, if at all, on the side of passing; with no prefix they are
// exact.
#pragma once

#include <vector>

#include "common/statistics/chi_square.h"
#include "tests/e2e/exact_law.h"

namespace slipstream::e2e {

using statistics::ChiSquare;
using Draw = std::vector<TokenId>;  // the first tokens of one answer, as many as their law has

inline constexpr double kAlpha = 1e-4;

struct Verdict {
  std::vector<ChiSquare> positions;
  ChiSquare joint;
  std::vector<double> p_values() const;  // of the positions
  bool exact() const;
};

// The chance that the test of a position (0, 1, ...) finds an error of total variation `planted` there (ExactLaw::bias) after
// so many draws.
double power_of_judge(const ExactLaw& model, size_t position, double planted, size_t draws);

// law: what is claimed. model: whose ranks cut the cells; the same law, but for planted errors. together: how many of the last
// tokens are judged jointly.
Verdict judge(const std::vector<Draw>& draws, const ExactLaw& law, const ExactLaw& model, size_t together);

}  // namespace slipstream::e2e
