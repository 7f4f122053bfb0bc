#include "common/model/torch/small_weight.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "common/model/host_weights.h"
#include "common/model/row_blocks.h"

namespace slipstream {
namespace {

std::optional<WeightFormat> small_format(const HostMatrix& matrix, const SmallMatrices& small) {
  const WeightFormat format = small.format.value_or(format_of(matrix.dtype));
  if (format == WeightFormat::bf16 || matrix.cols % kBlockNumbers != 0) return std::nullopt;
  return format;
}

// Lays the rows of a matrix out from row `first` of the part on. False: some number is not finite.
bool lay_out(const HostMatrix& matrix, int32_t first, const cuda::QuantizedMatrix& part) {
  std::atomic<bool> finite = true;
  at::parallel_for(0, matrix.rows, 1, [&](int64_t begin, int64_t end) {
    RowBlocks blocks(part.format, matrix.cols);
    for (int64_t row = begin; row < end; ++row) {
      const std::span<const std::byte> stored = blocks.of(matrix, static_cast<int32_t>(row));
      if (stored.empty()) {
        finite = false;
      } else {
        cuda::lay_out_row(stored.data(), first + static_cast<int32_t>(row), part);
      }
    }
  });
  return finite;
}

// The matrix has the addresses of the arrays where they are now.
void point(SmallPart& part) {
  part.matrix.scales = static_cast<uint16_t*>(part.scales.mutable_data_ptr());
  part.matrix.second = static_cast<uint16_t*>(part.second.mutable_data_ptr());
  part.matrix.q = part.q.mutable_data_ptr<uint8_t>();
  part.matrix.high = part.high.mutable_data_ptr<uint8_t>();
}

// All zeros, on the host.
SmallPart empty_part(std::span<const HostMatrix> alike, WeightFormat format, int32_t first) {
  SmallPart part{.first = first};
  part.matrix.format = format;
  part.matrix.in = static_cast<int32_t>(alike.front().cols);
  for (const HostMatrix& matrix : alike) part.matrix.out += matrix.rows;
  const auto zeros = [](int64_t count, at::ScalarType type) { return at::zeros({count}, at::TensorOptions(type)); };
  part.scales = zeros(part.matrix.scale_count(), at::kShort);
  part.second = zeros(cuda::has_second(format) ? part.matrix.scale_count() : 0, at::kShort);
  part.q = zeros(part.matrix.q_count(), at::kByte);
  part.high = zeros(part.matrix.high_count(), at::kByte);
  point(part);
  return part;
}

// Of matrices of one format.
Result<SmallPart> pack_part(std::span<const HostMatrix> alike, WeightFormat format, int32_t first, const TorchPlace& place) {
  SmallPart part = empty_part(alike, format, first);
  int32_t row = 0;
  for (const HostMatrix& matrix : alike) {
    if (!lay_out(matrix, row, part.matrix)) return not_finite(matrix.name);
    row += matrix.rows;
  }
  for (at::Tensor* each : {&part.scales, &part.second, &part.q, &part.high}) *each = each->to(place.device);
  point(part);
  return part;
}

}  // namespace

Result<std::vector<SmallPart>> pack_small(std::span<const HostMatrix> stacked, const SmallMatrices& small,
                                          const TorchPlace& place) {
  const auto format_of_each = [&](const HostMatrix& each) { return small_format(each, small); };
  std::vector<SmallPart> parts;
  if (std::ranges::any_of(stacked, [&](const HostMatrix& each) { return !format_of_each(each); })) return parts;
  int32_t first = 0;
  while (!stacked.empty()) {
    const std::optional<WeightFormat> format = format_of_each(stacked.front());
    const auto other = std::ranges::find_if(stacked, [&](const HostMatrix& each) { return format_of_each(each) != format; });
    const auto alike = static_cast<size_t>(other - stacked.begin());
    TRY(SmallPart part, pack_part(stacked.first(alike), *format, first, place));
    first += part.matrix.out;
    parts.push_back(std::move(part));
    stacked = stacked.subspan(alike);
  }
  return parts;
}

}  // namespace slipstream
