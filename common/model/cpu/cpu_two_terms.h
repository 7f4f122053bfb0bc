// int8 activations of two terms, for fine rows (Ops::linear_fine). Private to common/model/cpu.
//
//   x ~ x1 + x2, where x1 is x rounded to int8, its outliers in f32, and x2 is x - x1 rounded so
//   again
//
// Rounding to one term alone is the larger part of what an answer's first token loses
// (docs/lab/QUALITY.md). x2 is some 250 times finer. A panel of weights meets both terms while it
// is in the thread's cache; those of few rows meet it as twice as many rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/model/cpu/cpu_activations.h"

namespace slipstream {

struct TwoTerms {  // of the same rows
  ReadRows first, rest;
  ReadRows both;  // the first terms of all rows, then the second ones, if that is at most kFewRows
};

class CpuTwoTerms {
 public:
  CpuTwoTerms(const Kernels& kernels, ThreadPool& pool)
      : kernels_(kernels), pool_(pool), first_(kernels, pool), rest_(kernels, pool) {}
  void reserve(int32_t rows_max, int32_t cols_max);
  // Without `both`. Valid until the next call.
  TwoTerms round(Tensor in);
  // With it, if the rows are few.
  TwoTerms round_joined(Tensor in);

 private:
  const Kernels& kernels_;
  ThreadPool& pool_;
  CpuActivations first_, rest_;
  std::vector<float> left_;            // [rows_max, cols_max] what rounding to the first term left
  std::vector<CacheLine> both_;        // [kFewRows, cols_max]
  std::vector<SharedOutlier> shared_;  // of those
};

// The panels that are computed at a time, and those that both terms of many rows meet by turns:
// these stay in a core's second cache.
inline constexpr int32_t kJoinedPanels = 8, kTwoTermPanels = 2;
constexpr size_t two_term_sums(int32_t rows) {
  constexpr int32_t kJoined = kFewRows * kJoinedPanels * kPanelRows;
  return static_cast<size_t>(std::max(kJoined, rows * kTwoTermPanels * kPanelRows));
}

// out = panels * (first + rest), for the panels [begin, end) of a weight that is multiplied by int8
// activations. args: all but its rows. sums: scratch [two_term_sums(args.rows)].
void run_two_terms(const LinearKernel& kernel, WeightFormat format, const LinearArgs& args, const TwoTerms& rows, int32_t begin,
                   int32_t end, std::span<float> sums);

}  // namespace slipstream
