#include "common/model/step_plan.h"

#include <utility>

namespace slipstream {

// Pads the table with block 0, which no row of the sequence sees.
int32_t StepPlan::add_sequence(std::span<const int32_t> blocks) {
  const int32_t index = sequences();
  block_table.insert(block_table.end(), blocks.begin(), blocks.end());
  block_table.resize(static_cast<size_t>(index + 1) * static_cast<size_t>(blocks_max), 0);
  return index;
}

void StepPlan::add(const Row& row) {
  token.push_back(row.token);
  position.push_back(row.position);
  slot.push_back(row.slot);
  parent_slot.push_back(row.parent_slot);
  sequence.push_back(row.sequence);
  visible.push_back(row.visible);
  ancestors.push_back(row.ancestors);
}

void StepPlan::want(const RowSampling& how) {
  wanted.push_back(rows() - 1);
  sampling.push_back(how);
}

int32_t StepPlan::add_logits_processor(std::shared_ptr<const LogitsProcessor> logits_processor) {
  logits_processors.push_back(std::move(logits_processor));
  return static_cast<int32_t>(logits_processors.size()) - 1;
}

Step StepPlan::view() const {
  return {.token = token,
          .position = position,
          .slot = slot,
          .parent_slot = parent_slot,
          .sequence = sequence,
          .visible = visible,
          .ancestors = ancestors,
          .block_table = block_table,
          .blocks_max = blocks_max,
          .sampling = sampling,
          .wanted = wanted,
          .moves = moves,
          .processed = processed,
          .logits_processors = logits_processors,
          .path = path,
          .masks = masks,
          .extra = extra};
}

// Keeps the capacity, so that a step of the usual size allocates nothing.
void StepPlan::clear() {
  for (std::vector<int32_t>* column : {&token, &position, &slot, &parent_slot, &sequence, &visible, &block_table, &wanted})
    column->clear();
  ancestors.clear();
  sampling.clear();
  moves.clear();
  processed.clear();
  logits_processors.clear();
  path.clear();
  masks.clear();
  extra.clear();
  logprobs.clear();
}

}  // namespace slipstream
