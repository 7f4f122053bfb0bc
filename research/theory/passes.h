// The cost of an answer in forward passes (SpecDec++, 2405.19715, Section 2).
#pragma once

#include <vector>

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// Passes of one answer, or the mean over many. Invariant: drafted + verified = tokens + discarded,
// since a round of k drafts of which j are accepted emits j + 1 tokens, discards k - j drafts, and
// takes k + 1 passes.
struct Passes {
  double tokens = 0;     // N
  double drafted = 0;    // N_draft: passes of the draft model, one for each candidate
  double verified = 0;   // N_target
  double discarded = 0;  // N_discarded: rejected candidates and those behind them

  Passes& operator+=(const Passes& other);
};

// Seconds of one forward pass of each model. The defaults are the paper's measurements (Section
// 4.2).
struct PassTimes {
  double draft = 0.0234, target = 0.112;
};

// Equation (2.1): t_draft N_draft + t_target N_target.
double total_time(const Passes& passes, const PassTimes& times);
// Equation (2.2), the same total in terms of losses: T_0 + t_draft N_discarded + (t_target -
// t_draft) N_target, with T_0 = t_draft N.
double total_time_by_losses(const Passes& passes, const PassTimes& times);
// Equation (2.3): seconds per token, from the discard rate N_discarded / N and the verification
// rate N_target / N.
double latency(const Passes& passes, const PassTimes& times);

// Expected passes with a fixed candidate length K under the ratio rule. Exact: sums over the states
// of the chain. The last rounds have fewer candidates, so that exactly `horizon` tokens are
// emitted.
Passes expected_passes(const ChainPair& pair, int length);

// Lemma 2.1, greedy decoding from `prompt`: the positions in [1, horizon], ascending, at which the
// draft's likeliest token differs from the target's, both after the target's greedy tokens. Ties go
// to the lowest id.
std::vector<int> disagreements(const ChainPair& pair, TokenId prompt);
// Passes of the oracle, which stops drafting before each disagreement. It discards nothing. With S
// the disagreements, N_target = |S| + 1, or |S| if the answer's last position is in S, since that
// correction ends the answer.
Passes oracle_passes(const std::vector<int>& disagreements, int horizon);

}  // namespace slipstream::theory
