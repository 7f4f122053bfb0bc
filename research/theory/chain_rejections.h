// How often tokens of a whole answer are rejected, by 2411.00841: one draft a position (Theorem 1),
// a batch of drafts after each rejection (Algorithm 4, Theorem 3), or a rule that leans towards the
// draft (Algorithm 2 with declared bias). Exact: each sums over the chain's states, not over its
// paths.
#pragma once

#include <functional>

#include "common/speculation/rejection/accept_biased.h"
#include "research/theory/rejection_rule.h"

namespace slipstream::theory {

// Theorem 1: sum over n of E[TV(p_n, q_n)(. | x_1..x_{n-1})], x of the target's distribution.
double expected_rejections(const ChainPair& pair);

// Theorem 3: rejections = plain - improvement. The improvement is gathered at the positions after a
// rejection (and at the first), where a batch is judged; their distribution is the recursion (22).
struct BatchRejections {
  double plain = 0;        // Theorem 1's
  double improvement = 0;  // >= 0
  double rejections() const { return plain - improvement; }
};
inline constexpr int kEndlessBatch = 0;
BatchRejections expected_batch_rejections(const ChainPair& pair, int batch);  // kEndlessBatch: the limit of many

// Of any rule, by the distributions of the position: rejections of an answer, and the total
// variation spent at its positions, added up. States follow the distribution that is emitted, which
// drifts from the target's.
struct BiasedChain {
  double rejections = 0, spent = 0;
  double apart =
      0;  // sum of TV(p_n, q_n) under the emitted distribution: rejections + spent >= apart, equal on Theorem 5's line
};
using RuleOf = std::function<RejectionRule(Shares p, Shares q)>;
BiasedChain expected_biased(const ChainPair& pair, const RuleOf& rule);

}  // namespace slipstream::theory
