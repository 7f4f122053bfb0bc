// Expected number of rejected tokens in an answer (2411.00841), for three schemes:
//   - one draft for each position (Theorem 1);
//   - a batch of drafts after each rejection (Algorithm 4, Theorem 3);
//   - a rule biased towards the draft (Algorithm 2 with declared bias).
// All are exact: they sum over the states of the chain, not over its paths.
#pragma once

#include <functional>

#include "common/speculation/rejection/accept_biased.h"
#include "research/theory/rejection_rule.h"

namespace slipstream::theory {

// Theorem 1: sum over n of E[TV(p_n, q_n)(. | x_1..x_{n-1})], with x sampled from the target.
double expected_rejections(const ChainPair& pair);

// Theorem 3: rejections = plain - improvement. The improvement arises at the first position and at
// positions after a rejection, where a batch is verified; recursion (22) gives the distribution of
// these positions.
struct BatchRejections {
  double plain = 0;        // rejections of Theorem 1
  double improvement = 0;  // >= 0
  double rejections() const { return plain - improvement; }
};
inline constexpr int kEndlessBatch = 0;
BatchRejections expected_batch_rejections(const ChainPair& pair, int batch);  // kEndlessBatch: the limit of many drafts

// Any rule, given as a function of p and q at a position: the rejections of an answer, and the
// total variation spent, summed over its positions. States follow the emitted distribution, which
// drifts away from the target's.
struct BiasedChain {
  double rejections = 0, spent = 0;
  // Sum of TV(p_n, q_n) under the emitted distribution. Always rejections + spent >= apart, with
  // equality for the rules of Theorem 5.
  double apart = 0;
};
using RuleOf = std::function<RejectionRule(Shares p, Shares q)>;
BiasedChain expected_biased(const ChainPair& pair, const RuleOf& rule);

}  // namespace slipstream::theory
