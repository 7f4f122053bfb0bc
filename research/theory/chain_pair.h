// A target and a draft model that are non-stationary Markov chains over a few tokens: p_n(. |
// x_{n-1}) and q_n(. | x_{n-1}), n = 1..horizon, after a prompt x_0 of one token that is uniform
// (2411.00841, Section 2.1 and Appendix F). Their distributions are the integer weights that the
// product's rules judge, q quantised as a drafter ships it, and the formulas take the probabilities
// of those very weights: nothing but chance stands between a formula and a simulation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/speculation/rejection/token_distribution.h"

namespace slipstream::theory {

using Shares = std::span<const double>;  // [vocabulary] of a distribution; they add up to 1

class ChainPair {
 public:
  struct Shape {
    int vocabulary = 7;
    int horizon = 50;
    // Which share of the rows is hard: both distributions flat, and unrelated. In the others the
    // target is peaked and the draft near it.
    double hard = 1.0;
  };
  static ChainPair random(const Shape& shape, uint64_t seed);
  // The same distributions after each token, so that acceptance is independent and identical from
  // token to token. Ids are 0, 1, ...; the weights of q add up to kDraftDistributionTotal, or q is
  // quantised.
  static ChainPair constant(const OwnedDistribution& target, const OwnedDistribution& draft, int horizon);

  int vocabulary() const { return vocabulary_; }
  int horizon() const { return horizon_; }

  // Of token n in [1, horizon] after the token `before`.
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
  std::vector<Row> rows_;  // [horizon, vocabulary], or one
};

}  // namespace slipstream::theory
