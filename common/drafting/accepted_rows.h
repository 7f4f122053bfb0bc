// What an acceptance head predicts of the rows that a tree has just forwarded.
#pragma once

#include <cstddef>
#include <vector>

#include "common/model/language_model.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

// [frontier] for TreeGrowth::add(); empty if the model has no acceptance head. first: the
// frontier's first row in the model's last pass. sampled: the request's tokens are.
inline std::vector<float> accepted_rows(const LanguageModel& model, const TreeGrowth& growth, size_t first, bool sampled) {
  std::vector<float> chances;
  if (!model.predicts_acceptance()) return chances;
  for (size_t row = 0; row < growth.frontier().size(); ++row) {
    chances.push_back(model.acceptance(first + row, growth.stated(row), sampled));
  }
  return chances;
}

}  // namespace slipstream
