// What i.i.d. acceptance promises (Leviathan et al. 2211.17192, Section 3): alpha = E[sum min(p,
// q)] is the acceptance rate, gamma the draft length, c the time of a draft pass over that of a
// target pass, c_hat the same of arithmetic operations a token.
#pragma once

namespace slipstream::theory {

// Equation (1): tokens of one verification, (1 - alpha^(gamma + 1)) / (1 - alpha), the target's own
// one included.
double expected_tokens(double alpha, int gamma);

// Theorem 3.8: how many times as fast, expected_tokens / (gamma c + 1). 1 at gamma 0.
double walltime_improvement(double alpha, int gamma, double c);

// Theorem 3.11: how many times the operations, (gamma c_hat + gamma + 1) / expected_tokens.
double operations_factor(double alpha, int gamma, double c_hat);

// The gamma of the highest walltime improvement; 0: drafting does not pay, which is so where alpha
// <= c (Corollary 3.9). alpha < 1, c > 0.
int best_draft_length(double alpha, double c);

}  // namespace slipstream::theory
