// Judges whether draws of several tokens follow an exact distribution, by Pearson tests at
// kAlpha each:
//   1. One test a position, given the prefix that was sampled. Its cells are the ranks of the
//      conditional distribution, likeliest first.
//   2. One test of the last few tokens together, given the prefix before them. Its cells are
//      their ranks, where the conditional distribution of a large vocabulary is cut into eight
//      groups of about equal probability.
//   3. One test of the first few tokens together. Its cells are the tokens themselves.
//
// Cells of ranks add up errors that have one direction after every prefix
// (ExactDistribution::bias), so they find small ones. Errors that turn with the prefix, such as
// those of a wrong residual of p - q, cancel there. Cells of tokens add up nothing: they find
// both kinds, but only larger errors (ExactDistribution::scatter).
//
// Cells of ranks are compared with the sum of the distributions that each draw had, given its
// prefix. Given the prefix, the variance of a count is at most that of as many draws from the
// mean distribution, so these tests err, if at all, on the side of passing. With no prefix they
// are exact, and so are those of tokens.
#pragma once

#include <vector>

#include "tests/e2e/support/exact_distribution.h"
#include "tools/statistics/chi_square.h"

namespace slipstream::e2e {

using statistics::ChiSquare;
using Draw = std::vector<TokenId>;  // the first tokens of one answer, as many as their distribution has

inline constexpr double kAlpha = 1e-5;

struct Cells {
  size_t ranks = 0;   // the number of last tokens that are judged together by rank
  size_t tokens = 0;  // the number of first tokens that are judged as tokens; 0: none
};

struct Verdict {
  std::vector<ChiSquare> positions;
  ChiSquare joint, tokens;
  std::vector<double> p_values() const;  // of the positions
  bool exact() const;
};

// distribution: the claim. model: the distribution whose ranks are the cells. The two are the same
// unless an error is planted.
Verdict judge(const std::vector<Draw>& draws, const ExactDistribution& distribution, const ExactDistribution& model,
              const Cells& cells);
ChiSquare judge_tokens(const std::vector<Draw>& draws, const ExactDistribution& distribution,
                       size_t first);  // its last test alone

// The power: the chance that, after `draws` draws from `truth`, a test finds that they are not from
// `distribution`. The first is of the test of one position (0, 1, ...), the second of the test of
// the first `first` tokens.
double power_in_ranks(size_t position, const ExactDistribution& distribution, const ExactDistribution& truth,
                      const ExactDistribution& model, size_t draws);
double power_in_tokens(size_t first, const ExactDistribution& distribution, const ExactDistribution& truth, size_t draws);

}  // namespace slipstream::e2e
