// Any rejection-based rule for one token (2411.00841, Algorithm 2): accept a draft x from q with
// probability b(x); otherwise sample the token from another distribution P. Theorems 2, 4 and 5
// cover all such rules.
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
double bias(const RejectionRule& rule, Shares p, Shares q);        // total variation of emitted() and p
double total_variation(Shares a, Shares b);

// Combines the given b with the P of least bias, norm((p - b q)+) (Theorem 4). Of the optimal
// distributions this is the one of Decoding-OPT. If b <= min(1, p/q) the rule is unbiased.
RejectionRule with_best_other(std::vector<double> b, Shares p, Shares q);
// The bias of that rule in closed form: sum (b q - p)+ (Theorem 4).
double least_bias(Shares b, Shares p, Shares q);

// The product's rules by their formulas (common/speculation/rejection/accept_biased.h names the
// sources). The product has no lenience above 1; here it gives a strict rule: unbiased, with more
// rejections than necessary.
RejectionRule rule_of(const Bias& bias, Shares p, Shares q);

// Members of Theorem 2's family, b <= min(1, p/q). All are unbiased, and none rejects less than the
// first.
struct NamedRule {
  const char* name;
  RejectionRule rule;
};
std::vector<NamedRule> unbiased_family(Shares p, Shares q);

}  // namespace slipstream::theory
