#include "kernels/cuda/attend_plan.h"

#include <algorithm>
#include <bit>

namespace slipstream::cuda {
namespace {

int32_t keys_of(const AttendRows& rows, size_t row) { return rows.visible[row] + std::popcount(rows.ancestors[row]); }

int32_t splits_of(int32_t keys) { return (keys + kSplitKeys - 1) / kSplitKeys; }

}  // namespace

// Groups neighbouring rows of one sequence, as many as fill a block's queries, so that they share
// each key that is loaded. Then every split of the group's longest path is an item.
void plan_attend(const AttendRows& rows, int32_t group, AttendPlan& plan) {
  plan.items.clear();
  plan.first_part.clear();
  plan.parts = 0;
  const auto rows_max = static_cast<size_t>(std::max(1, kAttendQueries / group));
  for (size_t first = 0, end = 0; first < rows.visible.size(); first = end) {
    int32_t keys = 0;
    for (end = first; end < rows.visible.size() && end - first < rows_max && rows.sequence[end] == rows.sequence[first];
         ++end) {
      const int32_t own = keys_of(rows, end);
      keys = std::max(keys, own);
      plan.first_part.push_back(plan.parts);
      plan.parts += own > kSplitKeys ? splits_of(own) : 0;
    }
    for (int32_t split = 0; split < splits_of(keys); ++split) {
      plan.items.push_back({.first_row = static_cast<int32_t>(first),
                            .rows = static_cast<int32_t>(end - first),
                            .first_key = split * kSplitKeys});
    }
  }
}

}  // namespace slipstream::cuda
