#include "kernels/cuda/quantized_matrix.h"

namespace slipstream::cuda {
namespace {

void lay_out_lane(const QuantizedBlock& block, int32_t t, const QuantizedMatrix& matrix, int64_t lane) {
  const WeightFormat format = matrix.format;
  uint32_t words[2] = {};
  uint32_t high = 0;
  for (int32_t pair = 0; pair < kLanePairs; ++pair) {
    for (int32_t side = 0; side < 2; ++side) {
      const uint32_t q = block.q[first_of_pair(t, pair) + side];
      if (format == WeightFormat::q8_0) {
        words[pair / 2] |= q << (16 * side + 8 * (pair % 2));
      } else {
        words[0] |= (q & 0xF) << (16 * side + 4 * pair);
        high |= q >> 4 << (high_bits(format) * (4 * side + pair));
      }
    }
  }
  for (int32_t i = 0; i < matrix.lane_bytes(); ++i) {
    matrix.q[lane * matrix.lane_bytes() + i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
  }
  for (int32_t i = 0; i < high_bits(format); ++i) {
    matrix.high[lane * high_bits(format) + i] = static_cast<uint8_t>(high >> (8 * i));
  }
}

}  // namespace

void lay_out_row(const std::byte* blocks, int32_t row, const QuantizedMatrix& matrix) {
  const int64_t panel = row / kPanelRows, inside = row % kPanelRows;
  for (int32_t group = 0; group < matrix.groups(); ++group) {
    const auto block = QuantizedBlock::read(matrix.format, blocks + group * block_bytes(matrix.format));
    const int64_t at = panel * matrix.groups() + group;
    matrix.scales[at * kPanelRows + inside] = block.scale;
    if (has_second(matrix.format)) matrix.second[at * kPanelRows + inside] = block.second;
    for (int32_t t = 0; t < kGroupLanes / kPanelRows; ++t) lay_out_lane(block, t, matrix, at * kGroupLanes + inside * 4 + t);
  }
}

}  // namespace slipstream::cuda
