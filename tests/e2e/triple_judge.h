// Whether triples of tokens follow an exact law: four Pearson tests at kAlpha each. One a position, given the prefix that was
// drawn, over the ranks of the conditional law (likeliest first); and the three together in 8 x 8 x 8 cells, where each
// conditional law is cut by rank into eight groups of about equal probability.
//
// Given its prefix each token's variance is at most that of one draw from the mean law, so the tests of positions 2 and 3 err,
// if at all, on the side of passing; the joint one is exact.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "common/statistics/chi_square.h"
#include "tests/e2e/exact_law.h"

namespace slipstream::e2e {

using statistics::ChiSquare;
using Triple = std::array<TokenId, 3>;

inline constexpr double kAlpha = 1e-4;

struct Verdict {
  std::array<ChiSquare, 3> positions;
  ChiSquare joint;
  bool exact() const {
    const auto passes = [](const ChiSquare& test) { return test.p_value > kAlpha; };
    return passes(joint) && std::ranges::all_of(positions, passes);
  }
};

// The chance that the test of a position (0, 1, 2) finds an error of total variation `planted` there (ExactLaw::bias) after so
// many draws.
double power_of_judge(const ExactLaw& model, int position, double planted, size_t draws);

// law: what is claimed. model: whose ranks cut the cells; the same law, but for planted errors.
Verdict judge(const std::vector<Triple>& triples, const ExactLaw& law, const ExactLaw& model);

}  // namespace slipstream::e2e
