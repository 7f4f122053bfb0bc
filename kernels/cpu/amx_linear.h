// The linear kernel of bf16 weights by AMX tiles. Private to amx.cpp.
#pragma once

#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

constexpr int32_t kStepColumns = 2 * kTilePairs, kPairBytes = 4 * kPanelRows, kStepBytes = kTilePairs * kPairBytes;
constexpr int32_t kStreamAhead = 8192;  // bytes from the present weights to those that are prefetched

// A copy of the columns that do not fill a step, padded with zeros.
struct alignas(64) LastStep {
  std::byte weights[kStepBytes] = {}, first[kTileRows * kTileBytes] = {}, second[kTileRows * kTileBytes] = {};

  LastStep(const Factors& of, int32_t columns, int32_t rows, bool two) {
    std::memcpy(weights, of.weights, static_cast<size_t>(columns / 2 * kPairBytes));
    for (int32_t row = 0; row < rows; ++row) {
      const auto copy = [&](std::byte* to, const void* from) {
        std::memcpy(to + row * kTileBytes, static_cast<const std::byte*>(from) + row * of.stride,
                    static_cast<size_t>(columns) * 2);
      };
      copy(first, of.first);
      if (two) copy(second, of.second);
    }
  }
  Factors factors() const {
    return {.first = first, .second = second, .stride = kTileBytes, .weights = weights, .weights_stride = kPairBytes};
  }
};

SLIPSTREAM_INLINE void prefetch_to_write(const float* panel_columns) {
  __builtin_prefetch(panel_columns, 1);
  __builtin_prefetch(panel_columns + kPanelRows - 1, 1);
}

// One or two tiles of `rows` rows, which begin at `first` and `second`, times one panel. What to
// prefetch: the first tiles of a panel (kStream) read its weights from memory, which is what bounds
// them. Further tiles find the weights in the cache; for them the rows of `out` are far away.
template <bool kTwo, bool kStream>
void multiply_panel(const LinearArgs& args, int32_t panel, int32_t first, int32_t second, int32_t rows) {
  const std::byte* weights = args.panels + panel * panel_bytes(WeightFormat::bf16, args.in_cols);
  const int64_t stride = int64_t{args.in_cols} * 2;
  const std::byte *in = static_cast<const std::byte*>(args.in) + first * stride,
                  *more = static_cast<const std::byte*>(args.in) + second * stride;
  const auto factors = [&] {
    return Factors{.first = in, .second = more, .stride = stride, .weights = weights, .weights_stride = kPairBytes};
  };
  clear_sums();
  const int32_t col = panel * kPanelRows, cols = args.out_cols - col < kPanelRows ? args.out_cols - col : kPanelRows;
  float *out = args.out + first * args.out_stride + col, *more_out = args.out + second * args.out_stride + col;
  for (int32_t row = 0; !kStream && row < rows; ++row) {
    prefetch_to_write(out + row * args.out_stride);
    if (kTwo) prefetch_to_write(more_out + row * args.out_stride);
  }
  // Whole steps first, then the columns that are left, from a padded copy: reading past the end of
  // a row or a panel could leave its memory.
  const int32_t left = args.in_cols % kStepColumns;
  for (int32_t k = left; k < args.in_cols; k += kStepColumns) {
    for (int32_t line = 0; line < kStepBytes; line += kTileBytes) {
      if (kStream) __builtin_prefetch(weights + kStreamAhead + line);
    }
    add_product<kTwo, true>(factors());
    weights += kStepBytes;
    in += kTileBytes;
    more += kTileBytes;
  }
  if (left != 0) {
    const LastStep last(factors(), left, rows, kTwo);
    Tiles::fence();
    add_product<kTwo, true>(last.factors());
  }
  if (cols == kPanelRows) return store_sums<kTwo, true>(out, more_out, args.out_stride);
  // The last panel has fewer columns than the tiles: store them aside and copy what belongs to out.
  alignas(64) float part[2 * kTileRows][kPanelRows];
  store_sums<kTwo, true>(part[0], part[kTileRows], kPanelRows);
  for (int32_t row = 0; row < rows; ++row) {
    std::memcpy(out + row * args.out_stride, part[row], static_cast<size_t>(cols) * sizeof(float));
    if (kTwo) std::memcpy(more_out + row * args.out_stride, part[kTileRows + row], static_cast<size_t>(cols) * sizeof(float));
  }
}

void tiled_linear(const LinearArgs& args, int32_t begin, int32_t end) {
  const int32_t rows = tile_rows(args.rows);
  const Tiles tiles(rows, kTilePairs);
  for (int32_t panel = begin; panel < end; ++panel) {
    for_tiles(args.rows, rows, [&](auto two, int32_t first, int32_t second) __attribute__((always_inline)) {
      if (first == 0) {
        multiply_panel<two, true>(args, panel, first, second, rows);
      } else {
        multiply_panel<two, false>(args, panel, first, second, rows);
      }
    });
  }
}

}  // namespace
}  // namespace slipstream
