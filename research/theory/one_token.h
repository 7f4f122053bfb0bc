// Rejection of a single token, given the target's distribution p and the draft's distribution q,
// both [vocabulary].
#pragma once

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// The probability that a draft from q is rejected: the total variation of p and q (2411.00841,
// Theorem 1; 2211.17192, Theorem 3.5).
double rejection(Shares p, Shares q);

// The mass of each token that none of `drafts` drafts from q has covered: a_0 = p, a_m = (a_{m-1} -
// |a_{m-1}| q)+. Normalised, it is the residual distribution after that many rejections, p^(m+1) of
// 2411.00841, Appendix D.
std::vector<double> unaccepted(Shares p, Shares q, int drafts);

// The probability that all of `drafts` are rejected: the sum of unaccepted(). 2411.00841, Theorem
// 3, writes it as a product of total variations.
double batch_rejection(Shares p, Shares q, int drafts);
// Its limit for many drafts (Proposition 1): the mass of p on tokens where q is 0. Each draft takes
// q[x] times the remaining mass from token x; hence after finitely many drafts either x has none
// left or everything is accepted.
double endless_batch_rejection(Shares p, Shares q);

// How many rejections a batch saves at one token, rejection() - batch_rejection(), for the two
// examples of 2411.00841, Section 3.2. Uniform: q over the whole vocabulary, p over 1 / `ratio` of
// it: (1 - 1/r) - (1 - 1/r)^M.
double uniform_batch_improvement(double ratio, int drafts);
// Bernoulli: P(1) is u under p and v under q: |u - v| (1 - w^(M-1)), with w = 1 - v if u > v, else
// v.
double bernoulli_batch_improvement(double u, double v, int drafts);

}  // namespace slipstream::theory
