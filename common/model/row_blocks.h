// Rows of stored matrices, in the format that a device computes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/checkpoint/host_matrix.h"
#include "kernels/exact/quantized_block.h"

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

// For one thread, and for matrices of one width.
class RowBlocks {
 public:
  RowBlocks(WeightFormat format, int32_t cols);
  // The row as bf16, or as a block for each 32 columns, of which the last is padded with zeros.
  // Valid until the next call. Empty if a number of it is not finite in this format.
  std::span<const std::byte> of(const HostMatrix& matrix, int32_t row);

 private:
  std::span<const std::byte> in_format(const HostMatrix& matrix, int32_t row);
  void regroup(Dtype dtype, std::span<const std::byte> stored);

  WeightFormat format_;
  int32_t cols_;
  std::vector<uint16_t> bf16_;
  std::vector<float> f32_;
  std::vector<std::byte> blocks_;  // a row in a small format
};

}  // namespace slipstream
