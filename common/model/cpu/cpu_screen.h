// Finds the likeliest token of a row without reading all of the output layer. Private to
// common/model/cpu.
//
// Beside the output layer w, in q8_0, there is a copy c of it in q5_1, of 0.71 of its bytes. Both
// are multiplied by the same rounded activations, w by both of their terms x and y
// (cpu_two_terms.h) and c by the first alone, so by Cauchy and Schwarz
//
//   w_v (x + y) <= c_v x + |w_v - c_v| |x| + |w_v| |y| =: u_v      for each token v
//
//   1. u of all tokens, and the highest of each panel (kernels/cpu/panels.h)
//   2. the logits of the panel with the highest u; the highest of them is a floor
//   3. the logits of every panel whose highest u reaches the floor
//
// A logit that was computed has the bits that the whole layer gives it, since a panel's do not
// depend on others. The others are at most u, below the floor, and u stands in their place: so the
// likeliest token, the lowest of equals, is that of the whole layer.
//
// The sums of the products are rounded to f32. Both norms are enlarged by what that can add up to:
// a sum of n terms is off by at most n 2^-24 times the sum of their magnitudes (Higham, Accuracy
// and Stability of Numerical Algorithms, 2002, equation 4.4), which is at most |x| times the norm
// of the weights' magnitudes.
//
// With noise at temperature T some e^(|w - c| |x| / T) more tokens would have to be read, mostly
// all, so rows are greedy.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/cpu/cpu_two_terms.h"

namespace slipstream {

// Rows of a step. The panels that one of them needs are read for all, and products by the copy's
// five bits take longer than by eight, so that each path has its best number (kernels.h).
inline constexpr int32_t kScreenedRowsMax = 4;
static_assert(kScreenedRowsMax <= kFewRows);

struct CpuScreen final : OutputScreen {
  int32_t in = 0, out = 0;
  CpuPanels copy;  // q5_1
  // [out] |w_v - c_v| and |w_v|, and what rounding adds to each
  const float* off = nullptr;
  const float* norm = nullptr;
};

// Of a head in q8_0 [out, in], as `head` has it. panels: room for its copy; off, norm: [out]. They
// belong to the caller.
CpuScreen make_screen(const Kernels& kernels, ThreadPool& pool, const CpuPanels& head, int32_t in, std::byte* panels,
                      float* off, float* norm);

// For one step at a time.
class ScreenedOutput {
 public:
  ScreenedOutput(const Kernels& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}
  void reserve(int32_t out);  // the tokens of the largest head

  // logits [rows, out]: of each row the logits of the panels that may hold its likeliest token, and
  // upper bounds of all others, lower than that one. REQUIRES: 1 to kScreenedRowsMax rows.
  void run(const TwoTerms& rows, const CpuPanels& head, const CpuScreen& screen, Tensor logits);

 private:
  float* highest(int32_t row) { return highest_.data() + static_cast<size_t>(row) * panels_; }
  void bound(const LinearArgs& args, const CpuScreen& screen, int32_t panel);
  float floor(const LinearArgs& args, const TwoTerms& rows, const CpuPanels& head, int32_t row);
  void compute(const LinearArgs& args, const TwoTerms& rows, const CpuPanels& head, int32_t panel) const;

  const Kernels& kernels_;
  ThreadPool& pool_;
  size_t panels_ = 0;
  std::vector<float> highest_;           // [kScreenedRowsMax, panels] the highest bound of each panel
  float norms_[kScreenedRowsMax] = {};   // of the rows' first terms
  float rests_[kScreenedRowsMax] = {};   // and of their second ones
  float floors_[kScreenedRowsMax] = {};  // a logit that each row has
  std::vector<int32_t> candidates_;      // panels
};

}  // namespace slipstream
