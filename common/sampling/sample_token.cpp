#include "common/sampling/sample_token.h"

#include "common/sampling/gumbel_top_k.h"

namespace slipstream {

// The Gumbel-max trick is Gumbel top-k with k = 1.
TokenId sample_token(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch) {
  if (row.params.temperature == 0) return argmax(logits, scratch.chain);
  GumbelTopK<1> top(coupled_key(row));
  return add_row(whole_row(logits), row, scratch, top) ? top.candidates().front().token : -1;
}

void prepare(const RowSampling& row, int vocabulary, SamplingScratch& scratch) {
  if (row.params.temperature != 0) scratch.noise.make(*scratch.chain.kernels, coupled_key(row), vocabulary);
}

}  // namespace slipstream
