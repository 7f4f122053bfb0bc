// The formulas for i.i.d. acceptance (Leviathan et al. 2211.17192, Section 3):
//   alpha   acceptance rate, E[sum min(p, q)]
//   gamma   draft length
//   c       time of a draft pass / time of a target pass
//   c_hat   arithmetic operations per token of the draft model / of the target
#pragma once

namespace slipstream::theory {

// Equation (1): expected tokens of one verification, (1 - alpha^(gamma + 1)) / (1 - alpha),
// including the target's own.
double expected_tokens(double alpha, int gamma);

// Theorem 3.8: speed-up over plain decoding, expected_tokens / (gamma c + 1). It is 1 for gamma 0.
double walltime_improvement(double alpha, int gamma, double c);

// Theorem 3.11: operations relative to plain decoding, (gamma c_hat + gamma + 1) / expected_tokens.
double operations_factor(double alpha, int gamma, double c_hat);

// Returns the gamma with the highest walltime improvement. 0 means that drafting does not pay:
// alpha <= c (Corollary 3.9). REQUIRES: alpha < 1, c > 0.
int best_draft_length(double alpha, double c);

}  // namespace slipstream::theory
