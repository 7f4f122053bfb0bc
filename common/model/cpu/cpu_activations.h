// Activations in the forms that linear kernels read. Private to common/model/cpu.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"

namespace slipstream {

// What LinearArgs has of a call's rows.
struct ReadRows {
  const void* rows = nullptr;
  const SharedOutlier* shared = nullptr;
  const int32_t* outlier_columns = nullptr;
};
inline LinearArgs with_rows(LinearArgs args, const ReadRows& read) {
  args.in = read.rows;
  args.shared = read.shared;
  args.outlier_columns = read.outlier_columns;
  return args;
}

class CpuActivations {
 public:
  CpuActivations(const Kernels& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}
  void reserve(int32_t rows_max, int32_t cols_max);

  // The rows of `in` as they are (f32), or rounded, with the outliers of several rows joined. Valid
  // until the next call.
  ReadRows round(Tensor in, Activations kind);

 private:
  const Kernels& kernels_;
  ThreadPool& pool_;
  std::vector<CacheLine> rounded_;        // [rows_max, cols_max] in any form but f32
  std::vector<SharedOutlier> shared_;     // of those in int8, if they are few
  std::vector<int32_t> outlier_columns_;  // if they are many
};

}  // namespace slipstream
