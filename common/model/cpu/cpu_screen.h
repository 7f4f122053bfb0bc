// Finds the likeliest token of a row without reading all of the output layer. Private to
// common/model/cpu.
//
// Beside the output layer w, in q8_0, there is a copy c of it in q5_1, of 0.71 of its bytes. Both
// are multiplied by the same rounded activations x, so by Cauchy and Schwarz
//
//   w_v x <= c_v x + |w_v - c_v| |x| =: u_v      for each token v
//
//   1. u of all tokens, and the highest of each panel (kernels/cpu/panels.h)
//   2. the logits of the panel with the highest u; the highest of them is a floor
//   3. the logits of every panel whose highest u reaches the floor
//
// A logit that was computed has the bits that the whole layer gives it, since a panel's do not
// depend on others. The others are at most u, below the floor, and u stands in their place: so the
// likeliest token, the lowest of equals, is that of the whole layer.
//
// The sums of both products are rounded to f32. |w_v - c_v| is enlarged by what that can add up to:
// a sum of n terms is off by at most n 2^-24 times the sum of their magnitudes (Higham, Accuracy
// and Stability of Numerical Algorithms, 2002, equation 4.4), which is at most |x| times the norm
// of the weights' magnitudes.
//
// With noise at temperature T some e^(|w - c| |x| / T) more tokens would have to be read, mostly
// all, so rows are greedy.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"

namespace slipstream {

// Rows of a step. The panels that one of them needs are read for all, and products by the copy's
// five bits take longer than by eight, so that each path has its best number (kernels.h).
inline constexpr int32_t kScreenedRowsMax = 4;
static_assert(kScreenedRowsMax <= kFewRows);

struct CpuScreen final : OutputScreen {
  int32_t in = 0, out = 0;
  CpuPanels copy;              // q5_1
  const float* off = nullptr;  // [out] |w_v - c_v|, and what rounding adds
};

// Of a head in q8_0 [out, in], as `head` has it. panels: room for its copy; off: [out]. Both belong
// to the caller.
CpuScreen make_screen(const Kernels& kernels, ThreadPool& pool, const CpuPanels& head, int32_t in, std::byte* panels,
                      float* off);

// The int8 activations of some rows, and their outliers by columns (LinearArgs).
struct ScreenedRows {
  const ActivationGroup* in = nullptr;
  const SharedOutlier* shared = nullptr;
};

// For one step at a time.
class ScreenedOutput {
 public:
  ScreenedOutput(const Kernels& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}
  void reserve(int32_t out);  // the tokens of the largest head

  // logits [rows, out]: of each row the logits of the panels that may hold its likeliest token, and
  // upper bounds of all others, lower than that one. REQUIRES: 1 to kScreenedRowsMax rows.
  void run(const ScreenedRows& rows, const CpuPanels& head, const CpuScreen& screen, Tensor logits);

 private:
  float* highest(int32_t row) { return highest_.data() + static_cast<size_t>(row) * panels_; }
  void bound(const LinearArgs& args, const CpuScreen& screen, int32_t panel);
  float floor(const LinearArgs& args, const LinearKernel& kernel, int32_t row);

  const Kernels& kernels_;
  ThreadPool& pool_;
  size_t panels_ = 0;
  std::vector<float> highest_;           // [kScreenedRowsMax, panels] the highest bound of each panel
  float norms_[kScreenedRowsMax] = {};   // of the rows
  float floors_[kScreenedRowsMax] = {};  // a logit that each row has
  std::vector<int32_t> candidates_;      // panels
};

}  // namespace slipstream
