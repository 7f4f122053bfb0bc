#include "kernels/cuda/quantized_matrix.h"

namespace slipstream::cuda {

void unpack_blocks(const std::byte* blocks, int32_t row, const QuantizedMatrix& matrix) {
  for (int32_t group = 0; group < matrix.groups(); ++group) {
    const auto block = QuantizedBlock::read(matrix.format, blocks + group * block_bytes(matrix.format));
    const int64_t at = int64_t{row} * matrix.groups() + group;
    matrix.scales[at] = block.scale;
    if (matrix.format == WeightFormat::q4_1) matrix.minima[at] = block.second;
    uint8_t* bytes = matrix.q + at * matrix.group_bytes();
    for (int32_t i = 0; i < matrix.group_bytes(); ++i) {
      bytes[i] = matrix.format == WeightFormat::q8_0 ? block.q[i] : static_cast<uint8_t>(block.q[i] | block.q[i + 16] << 4);
    }
  }
}

}  // namespace slipstream::cuda
