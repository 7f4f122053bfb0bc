// Attention of a step on a CPU: rows that stand beside each other in one sequence (a tree's nodes,
// a prompt chunk) are attended together, so that each cache block is read once for all of them;
// key-value heads and groups of rows are split over threads, and where these are few and the
// context is long, each one's blocks and columns are. A row's bits depend on none of this.
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

  // At load, for each network, so that no step allocates.
  void reserve_rows(int32_t rows_max);
  void reserve(int32_t positions, const AttentionShape& shape);  // of one sequence

  void begin(const Step& step);  // the step must live until its last run
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
  int32_t deepest_ = 0;                          // positions of the row that sees most
  int32_t grouped_heads_ = 0;                    // that rows_ is made for; 0: not yet
  std::vector<Rows> rows_;                       // the step's rows, a call's worth each
  std::vector<std::vector<CacheLine>> scratch_;  // one a thread, or one a call where their parts are split
  std::vector<AttendArgs> calls_;                // whose parts are split
};

}  // namespace slipstream
