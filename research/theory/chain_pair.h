// A target and a draft model that are Markov chains over a few tokens, for comparing formulas with
// simulations: p_n(. | x_{n-1}) and q_n(. | x_{n-1}), n = 1..horizon, after a uniform prompt x_0 of
// one token (2411.00841, Section 2.1 and Appendix F). The chains are not stationary: the
// distributions depend on n.
//
// The distributions are the integer weights that the product's rules read, q quantised as a drafter
// sends it. The formulas use the probabilities of the same weights, so a formula and a simulation
// differ by chance only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/speculation/rejection/token_distribution.h"

namespace slipstream::theory {

using Shares = std::span<const double>;  // [vocabulary] probabilities of a distribution; their sum is 1

class ChainPair {
 public:
  struct Shape {
    int vocabulary = 7;
    int horizon = 50;
    // Share of hard rows, whose distributions are flat and unrelated. In the other rows the target
    // is peaked and the draft is close to it.
    double hard = 1.0;
  };
  // Random rows, a function of shape and seed. REQUIRES: 0 < vocabulary <=
  // kDraftDistributionTokensMax, horizon > 0.
  static ChainPair random(const Shape& shape, uint64_t seed);
  // Uses the same two distributions after every token, so that acceptance is i.i.d. over tokens.
  // Token ids are 0, 1, ... If the weights of `draft` do not sum to kDraftDistributionTotal, it is
  // quantised. REQUIRES: neither distribution is empty; horizon > 0.
  static ChainPair constant(const OwnedDistribution& target, const OwnedDistribution& draft, int horizon);

  int vocabulary() const { return vocabulary_; }
  int horizon() const { return horizon_; }

  // The distributions of token n after the token `before`. REQUIRES: n in [1, horizon], before in
  // [0, vocabulary).
  TokenDistribution target(int n, TokenId before) const { return row(n, before).target.view(); }
  TokenDistribution draft(int n, TokenId before) const { return row(n, before).draft.view(); }
  Shares p(int n, TokenId before) const { return row(n, before).p; }
  Shares q(int n, TokenId before) const { return row(n, before).q; }

 private:
  struct Row {
    OwnedDistribution target, draft;
    std::vector<double> p, q;  // [vocabulary]
  };
  ChainPair(int vocabulary, int horizon) : vocabulary_(vocabulary), horizon_(horizon) {}

  static Row make_row(OwnedDistribution target, OwnedDistribution draft, int vocabulary);
  const Row& row(int n, TokenId before) const;

  int vocabulary_, horizon_;
  std::vector<Row> rows_;  // [horizon, vocabulary]; one row if constant
};

}  // namespace slipstream::theory
