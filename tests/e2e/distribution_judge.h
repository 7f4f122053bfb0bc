// Whether draws of several tokens follow an exact distribution: Pearson tests at kAlpha each. One a
// position, given the prefix that was sampled, over the ranks of the conditional distribution
// (likeliest first); the last few together, given the prefix before them, in cells of their ranks,
// where the conditional distribution of a large vocabulary is cut into eight groups of about equal
// probability; and the first few together in cells of the tokens themselves.
//
// Cells of ranks add up what is wrong in one direction after every prefix alike
// (ExactDistribution::bias), and so find little of it; what turns with the prefix, as where a
// residual of p - q is wrong, cancels there. Cells of tokens add up nothing: they find either, but
// only what is larger (ExactDistribution::scatter).
//
// Cells of ranks are compared with the sum of the distributions that each draw had, given its
// prefix. Given it, a count's variance is at most that of as many draws from the mean distribution,
// so these tests err, if at all, on the side of passing; with no prefix they are exact, as those of
// tokens are.
#pragma once

#include <vector>

#include "tests/e2e/exact_distribution.h"
#include "tools/statistics/chi_square.h"

namespace slipstream::e2e {

using statistics::ChiSquare;
using Draw = std::vector<TokenId>;  // the first tokens of one answer, as many as their distribution has

inline constexpr double kAlpha = 1e-5;

struct Cells {
  size_t ranks = 0;   // of so many of the last tokens, together
  size_t tokens = 0;  // so many of the first, themselves; 0: none
};

struct Verdict {
  std::vector<ChiSquare> positions;
  ChiSquare joint, tokens;
  std::vector<double> p_values() const;  // of the positions
  bool exact() const;
};

// distribution: what is claimed. model: whose ranks cut the cells; the same distribution, but for
// planted errors.
Verdict judge(const std::vector<Draw>& draws, const ExactDistribution& distribution, const ExactDistribution& model,
              const Cells& cells);
ChiSquare judge_tokens(const std::vector<Draw>& draws, const ExactDistribution& distribution,
                       size_t first);  // its last test alone

// The chance that a test finds, after so many draws from `truth`, that they are not from
// `distribution`: the test of a position (0, 1, ...), that of the first so many tokens.
double power_in_ranks(size_t position, const ExactDistribution& distribution, const ExactDistribution& truth,
                      const ExactDistribution& model, size_t draws);
double power_in_tokens(size_t first, const ExactDistribution& distribution, const ExactDistribution& truth, size_t draws);

}  // namespace slipstream::e2e
