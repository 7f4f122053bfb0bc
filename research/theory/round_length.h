// Expected tokens of the first verification of a chain of drafts, for chains that are not
// stationary. Leviathan's formula covers only i.i.d. acceptance (2411.00841, Remark 2).
#pragma once

#include "research/theory/chain_pair.h"

namespace slipstream::theory {

// With the ratio rule: 1 + sum over i of the mass that p and q share along i tokens.
double expected_round_by_ratio(const ChainPair& pair, int drafts);

// With block verification (2403.10444, Algorithm 2): draft i is accepted, together with all before
// it, with probability p_i = min(1, p_(i-1) p / q). Enumerates all vocabulary^drafts paths.
double expected_round_by_block(const ChainPair& pair, int drafts);

}  // namespace slipstream::theory
