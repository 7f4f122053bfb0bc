// Tokens of the first verification of a chain of drafts, over non-stationary chains: what
// Leviathan's formula gives only where acceptance is i.i.d. (2411.00841, Remark 2).
#pragma once

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// By the ratio rule: 1 + sum over i of the mass that p and q share along i tokens.
double expected_round_by_ratio(const ChainPair& pair, int drafts);

// By block verification (2403.10444, Algorithm 2): draft i is accepted, with all before it, with
// p_i = min(1, p_(i-1) p / q). Walks every path: vocabulary^drafts of them.
double expected_round_by_block(const ChainPair& pair, int drafts);

}  // namespace slipstream::theory
