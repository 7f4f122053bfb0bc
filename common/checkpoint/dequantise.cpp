#include "common/checkpoint/dequantise.h"

#include <cstring>

#include "common/base/check.h"
#include "common/checkpoint/block_runs.h"
#include "kernels/exact/quantized_block.h"

namespace slipstream {
namespace {

template <WeightFormat format>
void read_blocks(std::span<const std::byte> row, float* to) {
  for (; !row.empty(); row = row.subspan(block_bytes(format)), to += kBlockNumbers) {
    QuantizedBlock::read(format, row.data()).numbers(format, to);
  }
}

void read_runs(Dtype dtype, std::span<const std::byte> row, float* to) {
  const StoredBlock block = block_of(dtype);
  for (; !row.empty(); row = row.subspan(block.bytes), to += block.numbers) {
    BlockRuns::read(dtype, row.data()).numbers(block.numbers, to);
  }
}

void read_stored(const HostMatrix& matrix, std::span<const std::byte> stored, std::span<float> out) {
  float* to = out.data();
  switch (matrix.dtype) {
    case Dtype::f32:
      std::memcpy(to, stored.data(), stored.size());
      return;
    case Dtype::f16:
      for (size_t i = 0; i < out.size(); ++i) to[i] = f16_to_f32(load_half(stored.data() + 2 * i));
      return;
    case Dtype::bf16:
      for (size_t i = 0; i < out.size(); ++i) to[i] = bf16_to_f32(load_half(stored.data() + 2 * i));
      return;
    case Dtype::q8_0:
      return read_blocks<WeightFormat::q8_0>(stored, to);
    case Dtype::q4_0:
      return read_blocks<WeightFormat::q4_0>(stored, to);
    case Dtype::q4_1:
      return read_blocks<WeightFormat::q4_1>(stored, to);
    default:
      return read_runs(matrix.dtype, stored, to);
  }
}

}  // namespace

void read_row(const HostMatrix& matrix, int32_t row, std::span<float> out) {
  CHECK(out.size() == static_cast<size_t>(matrix.cols), "room for {} of {} numbers", out.size(), matrix.cols);
  read_stored(matrix, matrix.row(row), out);
  if (matrix.offset == 0) return;
  for (float& each : out) each += matrix.offset;
}

}  // namespace slipstream
