// One row of logits becomes one token: the target's own choice, which greedy and coupled acceptance
// compare drafts with. With temperature 0 the argmax; else argmax_v of (double)s_v +
// gumbel(seed, choice, position, v) over the tokens that the chain keeps (chain.h, noise.h), lowest
// id on ties, whose distribution is softmax(s) over them.
#pragma once

#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/chain.h"
#include "common/sampling/noise_cache.h"
#include "common/sampling/params.h"

namespace slipstream {

// Reused from row to row and from step to step; nothing is allocated once it has grown. One a
// thread. What it holds speeds choose() up and cannot change its answer.
struct SamplingScratch {
  ChainScratch chain;
  std::vector<float> bounds;  // [blocks of 64] no token of the block can have a higher key
  NoiseCache noise;
};

// logits: [vocabulary], vocabulary > 0. -1 when they are not finite (chain.h).
TokenId sample_token(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch);

// Makes the noise of a row before its logits are there: time that choose() then saves.
void prepare(const RowSampling& row, int vocabulary, SamplingScratch& scratch);

}  // namespace slipstream
