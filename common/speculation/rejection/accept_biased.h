// Rules with a declared bias: they accept more drafts than the target's distribution allows, and
// say by how much. Chains only.
//
// Notation: p, q, u as in accept.h;  b(x) the probability with which a draft x ~ q is accepted;  P
// the distribution that the token comes from after a rejection. The emitted token is distributed as
// b q + (1 - sum b q) P.  A rule spends the total variation between this and p at each position. It
// is known from p and q alone, whatever token was sampled.
//
//   rule      b(x)                                   P                  source
//   lenience  min(1, p / (l q)), l in (0, 1]         norm((p - b q)+)   2211.17192, Appendix A.5
//   pareto    min(1, (p + e) / q), e in [0, 1]       norm((p - b q)+)   2411.00841, Theorem 4
//   uniform   min(1, (p + e) / q), e in [0, 1]       p                  2411.00841, Decoding-UNO
//   typical   p > min(e, d exp(-H(p))) ? 1 : 0       p                  2401.10774 v1, Section 3.3
//
// (pareto is the paper's Decoding-OPT, its Appendix G; uniform never spends less than pareto.
// 2401.10774 is Medusa.) With P = norm((p - b q)+) the spent variation is sum (b q - p)+, the least
// that any P allows (Theorem 4 of 2411.00841).
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/speculation/rejection/accept.h"

namespace slipstream {

struct Bias {
  enum class Kind : uint8_t { lenience, pareto, uniform, typical };
  Kind kind = Kind::pareto;
  double strength = 0;  // l of lenience, e of the others
  double delta = 0;     // d of typical, in [0, 1]
};

// An error names the parameter, its value and its range.
Result<void> validate(const Bias& bias);

// b(x) for a draft x with the probabilities p and q. entropy: H(p) in nats; only typical reads it.
double acceptance(const Bias& bias, double p, double q, double entropy);

// The total variation that the rule spends at a position with these distributions, in [0, 1].
double spent(const Bias& bias, const TokenDistribution& p, const TokenDistribution& q);

struct BiasedWalk {
  Walk walk;
  std::vector<double> spent;  // [walk.emitted] total variation
};

// tree     [nodes] with q [nodes + 1]. REQUIRES: it is a chain: no node has two children.
// target   p [nodes + 1]
// returns  as accept_ratio.
BiasedWalk accept_biased(const DraftTree& tree, const Bias& bias, TargetDistributions& target, RandomSource& random);

}  // namespace slipstream
