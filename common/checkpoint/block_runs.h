// GGUF's blocks whose scales are not simply beside their q (K-quants, IQ4), and those of five bits,
// read into one form: runs of 16 numbers that share a scale and a minimum. Layouts and arithmetic
// equal ggml's to the bit (ggml-quants.c: dequantize_row_*).
//
//   type           bytes  numbers  scale of a run           minimum of a run     q
//   q5_0              22       32  d                        -                    -16 .. 15
//   q5_1              24       32  d                        m                    0 .. 31
//   q2_k              84      256  d * 4 bits               -dmin * 4 bits       0 .. 3
//   q3_k             110      256  d * (6 bits - 32)        -                    -4 .. 3
//   q4_k             144      256  d * 6 bits, of two runs  -dmin * 6 bits       0 .. 15
//   q5_k             176      256  d * 6 bits, of two runs  -dmin * 6 bits       0 .. 31
//   q6_k             210      256  d * signed byte          -                    -32 .. 31
//   iq4_nl            18       32  d                        -                    one of 16 bytes
//   iq4_xs           136      256  d * (6 bits - 32), two   -                    one of 16 bytes
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/checkpoint/host_matrix.h"

namespace slipstream {

struct BlockRuns {
  static constexpr int32_t kRunNumbers = 16, kRunsMax = 16;

  // number = scale * q + minimum, rounded after each operation
  float scale[kRunsMax] = {}, minimum[kRunsMax] = {};
  int8_t q[kRunsMax * kRunNumbers] = {};

  // Reads a block of a type of the table above.
  static BlockRuns read(Dtype dtype, const std::byte* from);
  // Writes the first `count` numbers to out.
  void numbers(int32_t count, float* out) const;
};

}  // namespace slipstream
