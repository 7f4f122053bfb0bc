// The linear kernel of bf16 weights, which are widened to f32 in registers, and f32 activations.
// Private to the kernels' .cpp files (lanes.h).
#pragma once

#include "kernels/cpu/lanes.h"
#include "kernels/cpu/tiles.h"

namespace slipstream {
namespace {

#if defined(__AVX512F__)
constexpr int32_t kWidenedRows = 12;
#else
constexpr int32_t kWidenedRows = 4;
#endif
// Vectors of a panel at a time. A single row of activations takes all 32 rows of the panel: with
// fewer independent sums, each would wait for its own last product.
constexpr int32_t widened_vectors(int32_t rows) { return kVectorLanes == kLanes || rows > 1 ? 2 : 4; }

// The weights of two neighbouring columns, kVectorLanes output rows each, widened to f32.
struct Pair {
  Vector even, odd;
};
SLIPSTREAM_INLINE Pair widen(const std::byte* weight) {
  VectorInt bits;
  std::memcpy(&bits, weight, sizeof(bits));
  const VectorInt even = bits << 16, odd = bits & static_cast<int32_t>(0xFFFF0000u);
  return {.even = reinterpret_cast<Vector>(even), .odd = reinterpret_cast<Vector>(odd)};
}

// kRows rows of activations times one panel. Of each pair of columns the even one is added first,
// whatever kRows is.
template <int kRows>
void widened_tile(const LinearArgs& args, int32_t panel, int32_t row) {
  constexpr int32_t kVectors = widened_vectors(kRows);
  constexpr int64_t kStepBytes = 4 * kPanelRows;
  const float* in = static_cast<const float*>(args.in) + int64_t{row} * args.in_cols;
  const int32_t first = panel * kPanelRows;
  for (int32_t part = 0; part < kPanelRows && first + part < args.out_cols; part += kVectors * kVectorLanes) {
    const std::byte* weight = args.panels + panel * panel_bytes(WeightFormat::bf16, args.in_cols) + 4 * part;
    Vector sums[kRows][kVectors];
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      for (int c = 0; c < kVectors; ++c) sums[t][c] = Vector{};
    }
    for (int32_t k = 0; k < args.in_cols; k += 2, weight += kStepBytes) {
      Pair pairs[kVectors];
      for (int c = 0; c < kVectors; ++c) {
        pairs[c] = widen(weight + c * 4 * kVectorLanes);
        fetch_ahead<kRows>(weight + c * 4 * kVectorLanes);
      }
#pragma GCC unroll 12
      for (int t = 0; t < kRows; ++t) {
        const Vector even = every(in[int64_t{t} * args.in_cols + k]), odd = every(in[int64_t{t} * args.in_cols + k + 1]);
        for (int c = 0; c < kVectors; ++c) {
          sums[t][c] = multiply_add(pairs[c].odd, odd, multiply_add(pairs[c].even, even, sums[t][c]));
        }
      }
    }
    for (int t = 0; t < kRows; ++t) {
      for (int c = 0; c < kVectors; ++c) {
        const int32_t col = first + part + c * kVectorLanes, left = args.out_cols - col;
        if (left > 0) store_vector_part(args.out + (row + t) * args.out_stride + col, sums[t][c], left);
      }
    }
  }
}

[[maybe_unused]] void widened_linear(const LinearArgs& args, int32_t begin, int32_t end) {
  static constexpr auto kTiles = []<int... kBelow>(std::integer_sequence<int, kBelow...>) {
    return TileTable<sizeof...(kBelow)>{{widened_tile<kBelow + 1>...}};
  }(std::make_integer_sequence<int, kWidenedRows>{});
  linear_by_tiles(kTiles.of, args, begin, end);
}

}  // namespace
}  // namespace slipstream
