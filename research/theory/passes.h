// What an answer costs in forward passes (SpecDec++, 2405.19715, Section 2).
#pragma once

#include <vector>

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// Of one answer, or of the mean of many. Always drafted + verified = tokens + discarded: a round of
// k drafts of which j are accepted emits j + 1 tokens, discards k - j drafts, and took k + 1
// passes.
struct Passes {
  double tokens = 0;     // N
  double drafted = 0;    // N_draft: passes of the draft model, one a candidate
  double verified = 0;   // N_target
  double discarded = 0;  // N_discarded: candidates rejected, or behind one that was

  Passes& operator+=(const Passes& other);
};

// Seconds of one forward pass of each model; draft 0.0234 and target 0.112 are what the paper
// measured (Section 4.2).
struct PassTimes {
  double draft = 0.0234, target = 0.112;
};

// Equation (2.1): t_draft N_draft + t_target N_target.
double total_time(const Passes& passes, const PassTimes& times);
// Equation (2.2), the same by what is lost: T_0 + t_draft N_discarded + (t_target - t_draft)
// N_target, T_0 = t_draft N.
double total_time_by_losses(const Passes& passes, const PassTimes& times);
// Equation (2.3): seconds a token, from the discard rate N_discarded / N and the verification rate
// N_target / N.
double latency(const Passes& passes, const PassTimes& times);

// A fixed candidate length K (fewer before the horizon, so that exactly `horizon` tokens come out),
// judged by the ratio rule: exact, over the chain's states.
Passes expected_passes(const ChainPair& pair, int length);

// Lemma 2.1, greedy decoding from this prompt: the positions in [1, horizon], ascending, at which
// the draft's likeliest token, after the target's own likeliest ones, is another than the target's.
// Ties go to the lowest id.
std::vector<int> disagreements(const ChainPair& pair, TokenId prompt);
// The oracle's passes: it stops before each of them. Nothing is discarded; N_target = |S| + 1, or
// |S| where the last token of the answer is in S itself and its own correction ends it.
Passes oracle_passes(const std::vector<int>& disagreements, int horizon);

}  // namespace slipstream::theory
