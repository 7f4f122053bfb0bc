#include "services/verifier/step_plan.h"

namespace slipstream {

Step StepPlan::view() const {
  return {.token = token,
          .position = position,
          .slot = slot,
          .sequence = sequence,
          .visible = visible,
          .ancestors = ancestors,
          .block_table = block_table,
          .blocks_max = blocks_max,
          .sampling = sampling,
          .wanted = wanted,
          .moves = moves};
}

void StepPlan::clear() {
  for (std::vector<int32_t>* column : {&token, &position, &slot, &sequence, &visible, &block_table, &wanted}) column->clear();
  ancestors.clear();
  sampling.clear();
  moves.clear();
}

}  // namespace slipstream
