// Packs rows of matrices into panels, in the weight format that is asked for. Private to
// common/model/cpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/checkpoint/host_matrix.h"
#include "kernels/cpu/panels.h"

namespace slipstream {

// The weight format in which a stored type is computed on.
//
//   stored                    computed on in  how
//   q8_0, q4_0, q4_1, q5_1    itself          bit by bit
//   q5_0                      q5_1            with its own q
//   q4_k, q5_k                q4_1, q5_1      with its own q; scales and minima rounded to f16
//   q3_k, q6_k                q6_k            with its own q; scales of runs rounded to f16
//   iq4_nl, iq4_xs            q8_0            with its own q; scales of groups (of iq4_xs) rounded to f16
//   q2_k                      q8_0            rounded anew
//   f32, f16, bf16            bf16            rounded
WeightFormat format_of(Dtype dtype);

// For one thread, and for matrices of one format and width.
class RowPacker {
 public:
  RowPacker(WeightFormat format, PanelLayout layout, int32_t cols);
  // False, and nothing is packed, if a number of the row is not finite in this format. `from`: the
  // row in the matrix; `row`: in the panels.
  bool pack(const HostMatrix& matrix, int32_t from, int32_t row, std::byte* panels);

 private:
  bool put(const std::byte* stored, int32_t row, std::byte* panels) const;
  void regroup(Dtype dtype, std::span<const std::byte> stored);

  WeightFormat format_;
  PanelLayout layout_;
  int32_t cols_;
  std::vector<uint16_t> bf16_;
  std::vector<float> f32_;
  std::vector<std::byte> blocks_;  // a row in a small format
};

}  // namespace slipstream
