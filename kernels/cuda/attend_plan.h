// Splits the attention of a step into items of work, one for each block of the GPU and each
// key-value head. Made once a step on the host; all layers use it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slipstream::cuda {

inline constexpr int32_t kSplitKeys = 128;     // keys of a path that one block takes
inline constexpr int32_t kAttendQueries = 16;  // queries of a block: heads of one key-value head, times rows

// `rows` neighbouring rows of one sequence, and the keys [first_key, first_key + kSplitKeys) of
// their paths. With no rows it is padding, for a graph of fixed size.
struct AttendItem {
  int32_t first_row = 0, rows = 0, first_key = 0;
};

struct AttendPlan {
  std::vector<AttendItem> items;
  std::vector<int32_t> first_part;  // [rows] where the partial results of a row of several splits begin
  int32_t parts = 0;                // partial results, for each head
};

// The rows of a step, as in common/model's Step.
struct AttendRows {
  std::span<const int32_t> sequence, visible;
  std::span<const uint64_t> ancestors;
};

// Fills a plan, which grows only the first times. group: query heads per key-value head.
void plan_attend(const AttendRows& rows, int32_t group, AttendPlan& plan);

}  // namespace slipstream::cuda
