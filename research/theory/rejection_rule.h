// Any rejection-based rule for one token (2411.00841, Algorithm 2): a draft x of q is accepted with
// b(x), else the token is sampled from another distribution P. Theorems 2, 4 and 5 are about all of
// them.
#pragma once

#include <vector>

#include "common/speculation/rejection/accept_biased.h"
#include "research/theory/chain_pair.h"

namespace slipstream::theory {

struct RejectionRule {
  std::vector<double> b;      // [vocabulary] in [0, 1]
  std::vector<double> other;  // [vocabulary] P
};

double rejection(const RejectionRule& rule, Shares q);             // 1 - sum b q
std::vector<double> emitted(const RejectionRule& rule, Shares q);  // b q + (1 - sum b q) P
double bias(const RejectionRule& rule, Shares p, Shares q);        // total variation of that and p
double total_variation(Shares a, Shares b);

// The b given and the P of least bias: norm((p - b q)+) (Theorem 4; of its optimal distributions
// the one that Decoding-OPT takes). Where b <= min(1, p/q) it is unbiased.
RejectionRule with_best_other(std::vector<double> b, Shares p, Shares q);
// Its bias in closed form: sum (b q - p)+ (Theorem 4).
double least_bias(Shares b, Shares p, Shares q);

// The rules that the product runs, by their formulas (common/speculation/rejection/accept_biased.h
// names the sources). Lenience above 1 is no rule of the product's; it is strictness: an unbiased
// rule that rejects more than it has to.
RejectionRule rule_of(const Bias& bias, Shares p, Shares q);

// Members of Theorem 2's family, b <= min(1, p/q): unbiased, and none rejects less than the first.
struct NamedRule {
  const char* name;
  RejectionRule rule;
};
std::vector<NamedRule> unbiased_family(Shares p, Shares q);

}  // namespace slipstream::theory
