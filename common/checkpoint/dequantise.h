// Converts a stored row of weights to floats.
#pragma once

#include <span>

#include "common/checkpoint/host_matrix.h"

namespace slipstream {

// Writes row `row` of the matrix, and its offset added, to out: [matrix.cols]. kernels/exact has
// the layouts of its numbers (half.h, quantized_block.h). REQUIRES: out.size() == matrix.cols.
void read_row(const HostMatrix& matrix, int32_t row, std::span<float> out);

}  // namespace slipstream
