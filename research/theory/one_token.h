// What a target's distribution p and a draft's distribution q over one token say about its
// rejection. Both are [vocabulary].
#pragma once

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// How often a draft of q is rejected: the total variation of the two (2411.00841, Theorem 1;
// 2211.17192, Theorem 3.5).
double rejection(Shares p, Shares q);

// The mass of each token that none of `drafts` draws from q has accepted: a_0 = p, a_m = (a_{m-1} -
// |a_{m-1}| q)+. Divided by its sum it is the distribution after that many refusals, p^(m+1) of
// 2411.00841, Appendix D.
std::vector<double> unaccepted(Shares p, Shares q, int drafts);

// That all of `drafts` are rejected: the sum of that, the product of total variations of
// 2411.00841, Theorem 3.
double batch_rejection(Shares p, Shares q, int drafts);
// Its limit as drafts become many (Proposition 1 there): what p has outside of q. A token that q
// can draw loses a fixed share of what is left in each draw, so that it is empty after finitely
// many, or all is accepted.
double endless_batch_rejection(Shares p, Shares q);

// What a batch saves at one token, rejection() - batch_rejection(), for the two examples of
// 2411.00841, Section 3.2. Uniform: q over a vocabulary, p over a part of it that is `ratio` times
// as small: (1 - 1/r) - (1 - 1/r)^M.
double uniform_batch_improvement(double ratio, int drafts);
// Bernoulli: p says 1 with u, q with v: |u - v| (1 - w^(M-1)), w = 1 - v if u > v, else v.
double bernoulli_batch_improvement(double u, double v, int drafts);

}  // namespace slipstream::theory
