// Samples the target's token from one row of logits. Greedy and coupled acceptance compare drafts
// with it.
//
//   temperature 0   argmax_v logit_v
//   otherwise       argmax_v (double)s_v + gumbel(seed, choice, position, v)   over the tokens that the chain keeps
//
// Ties go to the lowest id. s_v is the scaled logit of chain.h, gumbel() the noise of
// kernels/exact/noise.h. The token is distributed as softmax(s) over the kept tokens (the
// Gumbel-max trick).
#pragma once

#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/chain.h"
#include "common/sampling/noise_cache.h"
#include "common/sampling/params.h"

namespace slipstream {

// Buffers and cached noise, reused from row to row and from step to step. They allocate only while
// they grow, and change how long a call takes, never its result. REQUIRES: one per thread.
struct SamplingScratch {
  ChainScratch chain;
  std::vector<float> bounds;  // [blocks of kScanBlock tokens] an upper bound of the keys of each block
  NoiseCache noise;
  std::vector<uint8_t> levels;  // those of a row that has not all tokens
};

// Samples from logits [vocabulary]. Returns -1 if the row is refused (chain.h). REQUIRES
// (unchecked): the row is not empty.
TokenId sample_token(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch);

// Computes the noise of a row in advance, while its logits are not there yet. sample_token() is
// faster then.
void prepare(const RowSampling& row, int vocabulary, SamplingScratch& scratch);

}  // namespace slipstream
