// Declared bias: rules that accept more than the target's law allows, and say by how much. On chains.
//
// A draft x is accepted with b(x), else the token comes from another law P; the emitted token's law is b q + (1 - sum b q) P.
// Total variation to the target p, known from p and q alone, is what a rule spends at a position, whatever is drawn there.
//
//   lenience  b = min(1, p / (l q)), l in (0, 1]         Leviathan et al. 2211.17192, Appendix A.5
//   pareto    b = min(1, (p + e) / q), e in [0, 1]       Decoding-OPT, 2411.00841, Theorem 4 and Appendix G
//   uniform   the same b, P = p                          Decoding-UNO, likewise; never spends less
//   typical   b = [p > min(e, d exp(-H(p)))], P = p      Medusa 2401.10774, Section 3.3 of v1
//
// P = norm((p - b q)+) for the first two: then the spent variation is sum (b q - p)+, the least that any P allows (Theorem 4).
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/speculation/accept.h"

namespace slipstream {

struct Bias {
  enum class Kind : uint8_t { lenience, pareto, uniform, typical };
  Kind kind = Kind::pareto;
  double strength = 0;  // l of lenience, e of the others
  double delta = 0;     // d of typical, in [0, 1]
};

// An error names the parameter, its value and its range.
Result<void> validate(const Bias& bias);

// b(x) for a draft x of probabilities p and q; entropy: H(p) in nats, asked of typical alone.
double acceptance(const Bias& bias, double p, double q, double entropy);

// What it spends at a position with these laws: total variation, [0, 1].
double spent(const Bias& bias, const Law& p, const Law& q);

struct BiasedWalk {
  Walk walk;
  std::vector<double> spent;  // [walk.emitted] total variation
};

// drawn: a chain (no node has two children). As accept_ratio otherwise.
BiasedWalk accept_biased(const DraftTree& drawn, const Bias& bias, TargetLaws& target, Dice& dice);

}  // namespace slipstream
