// Attention of a step on a CPU, over the kernels of one path:
//
//   1. Neighbouring rows of one sequence (a tree's nodes, a prompt chunk) form a group, so that each
//      cache block is read once for all of them.
//   2. A call is one group and one key-value head. Calls are split over the threads.
//   3. With few calls behind a long context, the blocks, queries and columns of each call are split
//      over the threads instead.
//
// A row's bits depend on none of this (row invariance, kernels/cpu/kernels.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"

namespace slipstream {

class CpuAttention {
 public:
  CpuAttention(const Kernels& kernels, ThreadPool& pool);

  // Called at load for each network, so that no step allocates.
  void reserve_rows(int32_t rows_max);
  void reserve(int32_t positions, const AttentionShape& shape);  // positions: the most of one sequence

  void begin(const Step& step);  // the step must outlive its runs
  void run(Tensor qkv, const CpuCache& cache, int layer, Tensor out);

 private:
  struct Rows {
    int32_t first = 0, count = 0;
  };
  void group_rows(int32_t heads);
  AttendArgs call(Tensor qkv, const CpuCache& cache, int layer, Tensor out, int32_t i, size_t scratch);
  void run_parts(int32_t head_size);

  const Kernels& kernels_;
  ThreadPool& pool_;
  const Step* step_ = nullptr;
  int32_t deepest_ = 0;                          // positions that the row with the longest context sees
  int32_t grouped_heads_ = 0;                    // heads per key-value head that rows_ was made for; 0: none yet
  std::vector<Rows> rows_;                       // the groups of the step's rows
  std::vector<std::vector<CacheLine>> scratch_;  // one per thread; one per call if the parts of calls are split
  std::vector<AttendArgs> calls_;                // the calls whose parts are split
};

}  // namespace slipstream
