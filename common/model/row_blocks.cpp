#include "common/model/row_blocks.h"

#include <algorithm>

#include "common/checkpoint/block_runs.h"
#include "common/checkpoint/dequantise.h"
#include "common/model/host_weights.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

// How a stored type becomes its weight format.
enum class Way : uint8_t { as_it_is, own_q, rounded };
struct Computed {
  WeightFormat format;
  Way way;
};

Computed computed(Dtype dtype) {
  switch (dtype) {
    case Dtype::q8_0:
      return {WeightFormat::q8_0, Way::as_it_is};
    case Dtype::q4_0:
      return {WeightFormat::q4_0, Way::as_it_is};
    case Dtype::q4_1:
      return {WeightFormat::q4_1, Way::as_it_is};
    case Dtype::q5_1:
      return {WeightFormat::q5_1, Way::as_it_is};
    case Dtype::q4_k:
      return {WeightFormat::q4_1, Way::own_q};
    case Dtype::q5_0:
    case Dtype::q5_k:
      return {WeightFormat::q5_1, Way::own_q};
    case Dtype::q3_k:
    case Dtype::q6_k:
      return {WeightFormat::q6_k, Way::own_q};
    case Dtype::iq4_nl:
    case Dtype::iq4_xs:
      return {WeightFormat::q8_0, Way::own_q};
    case Dtype::q2_k:
      return {WeightFormat::q8_0, Way::rounded};
    case Dtype::bf16:
      return {WeightFormat::bf16, Way::as_it_is};
    case Dtype::f32:
    case Dtype::f16:
      break;
  }
  return {WeightFormat::bf16, Way::rounded};
}

}  // namespace

WeightFormat format_of(Dtype dtype) { return computed(dtype).format; }

RowBlocks::RowBlocks(WeightFormat format, int32_t cols)
    : format_(format), cols_(cols), bf16_(static_cast<size_t>(cols)), f32_(static_cast<size_t>(cols)) {
  if (format != WeightFormat::bf16) blocks_.resize(static_cast<size_t>(groups_of(cols) * block_bytes(format)));
}

std::span<const std::byte> RowBlocks::of(const HostMatrix& matrix, int32_t row) {
  const std::span<const std::byte> found = in_format(matrix, row);
  if (found.empty() || !finite_row(format_, found.data(), cols_)) return {};
  return found;
}

std::span<const std::byte> RowBlocks::in_format(const HostMatrix& matrix, int32_t row) {
  const auto [own, way] = computed(matrix.dtype);
  if (own == format_ && way == Way::as_it_is) return matrix.row(row);
  if (own == format_ && way == Way::own_q) {
    regroup(matrix.dtype, matrix.row(row));
    return blocks_;
  }
  read_row(matrix, row, f32_);
  if (format_ == WeightFormat::bf16) {
    std::ranges::transform(f32_, bf16_.begin(), f32_to_bf16);
    return std::as_bytes(std::span(bf16_));
  }
  if (!all_finite(f32_)) return {};
  quantize(format_, f32_.data(), cols_, blocks_.data());
  return blocks_;
}

// Writes a row of a type that keeps its q as blocks of the format. Of a format without two scales
// both runs of a block have one scale and one minimum. q5_0 has no minimum: its q lie around 0.
void RowBlocks::regroup(Dtype dtype, std::span<const std::byte> stored) {
  constexpr int kZeroOfFiveBits = 16;
  const StoredBlock block = block_of(dtype);
  const bool around_zero = dtype == Dtype::q5_0;
  const int zero = around_zero ? kZeroOfFiveBits : zero_of(format_);
  std::byte* to = blocks_.data();
  for (; !stored.empty(); stored = stored.subspan(block.bytes)) {
    const BlockRuns runs = BlockRuns::read(dtype, stored.data());
    for (int32_t first = 0; first < block.numbers; first += kBlockNumbers, to += block_bytes(format_)) {
      const int32_t run = first / BlockRuns::kRunNumbers;
      const float minimum = around_zero ? -kZeroOfFiveBits * runs.scale[run] : runs.minimum[run];
      QuantizedBlock group{.scale = f32_to_f16(runs.scale[run]),
                           .second = f32_to_f16(has_minimum(format_) ? minimum : runs.scale[run + 1])};
      for (int32_t i = 0; i < kBlockNumbers; ++i) group.q[i] = static_cast<uint8_t>(runs.q[first + i] + zero);
      group.write(format_, to);
    }
  }
}

}  // namespace slipstream
