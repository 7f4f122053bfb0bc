// Attention of a step on a CPU, over the kernels of one path:
//
//   1. Neighbouring rows of one sequence (a tree's nodes, a prompt chunk) form a group, so that each
//      cache block is read once for all of them.
//   2. A call is one group and one key-value head. Calls are split over the threads.
//   3. With few calls behind a long context, the blocks, queries and columns of each call are split
//      over the threads instead.
//
// A row's bits depend on none of this (row invariance, kernels/cpu/kernels.h).
//
// Scratch holds a score for each query of a call and each position that its rows see. Behind a long
// context groups are smaller, so that it stays within kAttendScratchBytes for each of
// kCallsPerThread calls a thread, or within what the heads of one row take, if that is more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"

namespace slipstream {

inline constexpr int32_t kCallsPerThread = 3;  // with fewer calls the threads share the parts of each
inline constexpr int64_t kAttendScratchBytes = int64_t{8} << 20;

// What the rows of a step attend over.
struct AttendedLayer {
  const CpuCache& cache;
  int layer = 0;
  AttentionRules rules;
};

class CpuAttention {
 public:
  CpuAttention(const Kernels& kernels, ThreadPool& pool);

  // Called at load for each network, so that no step allocates.
  void reserve_rows(int32_t rows_max);
  void reserve(int32_t positions, const AttentionShape& shape);  // positions: the most of one sequence

  void begin(const Step& step);  // the step must outlive its runs
  void run(Tensor qkv, const AttendedLayer& over, Tensor out);
  int64_t scratch_bytes(size_t scratch = 0) const;  // of one call; all are alike

 private:
  struct Rows {
    int32_t first = 0, count = 0;
  };
  void group_rows(const AttendedLayer& over);
  int32_t blocks_seen(int32_t first, int32_t count, int32_t window) const;
  AttendArgs call(Tensor qkv, const AttendedLayer& over, Tensor out, int32_t i, size_t scratch);
  void run_parts(int32_t head_size);

  const Kernels& kernels_;
  ThreadPool& pool_;
  const Step* step_ = nullptr;
  int32_t deepest_ = 0;                          // positions before the end of the longest context
  int32_t grouped_heads_ = 0;                    // heads per key-value head that rows_ was made for; 0: none yet
  int32_t grouped_window_ = 0;                   // ... and the window
  std::vector<Rows> rows_;                       // the groups of the step's rows
  std::vector<std::vector<CacheLine>> scratch_;  // one per thread; one per call if the parts of calls are split
  std::vector<AttendArgs> calls_;                // the calls whose parts are split
};

}  // namespace slipstream
