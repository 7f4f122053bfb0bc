#include "common/sampling/choose.h"

#include "common/sampling/race.h"

namespace slipstream {

TokenId choose(std::span<const float> logits, const RowSampling& row, ChooseScratch& scratch) {
  if (row.params.temperature == 0) return argmax(logits, scratch.chain);
  Race<1> race(coupled_key(row));
  return run_row(logits, row, scratch, race) ? race.places().front().token : -1;
}

void prepare(const RowSampling& row, int vocabulary, ChooseScratch& scratch) {
  if (row.params.temperature != 0) scratch.noise.make(coupled_key(row), vocabulary);
}

}  // namespace slipstream
