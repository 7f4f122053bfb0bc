// The linear kernel of weights in the small formats by AMX tiles: weights become bf16 on their way
// from memory (widen_rows.h), and meet up to sixteen rows of activations in one tile product. So
// sixteen rows cost little more than one. The result has the bits of amx_linear.h over the weights
// that widen_rows.h makes. Private to amx.cpp.
//
// A tile of weights is the first factor, [16 output rows][32 columns], since a row of the layout
// `rows` is one; activations are the second, [16 pairs of columns][rows] (kernels.h). So sums are
// [16 output rows][rows], and are transposed on their way out.
//
//   tiles 0-3   sums: 0 and 1 of the first tile of activations, 2 and 3 of the second
//   tiles 4-5   weights: output rows 0-15 and 16-31 of a panel
//   tiles 6-7   activations
#pragma once

#include "kernels/cpu/amx_tiles.h"
#include "kernels/cpu/to_bf16_pairs.h"
#include "kernels/cpu/widen_rows.h"

namespace slipstream {
namespace {

constexpr int32_t kWideGroupBytes = kPanelRows * kGroupColumns * 2, kWideTileBytes = kWideGroupBytes / 2;
// With more than two tiles of activations: groups that are widened at a time, so that they stay in
// the first cache, beside as many of two tiles of activations, while all tiles meet them; and tiles
// whose sums wait.
constexpr int32_t kGroupsAtOnce = 9, kTilesAtOnce = 16;
// Bytes from the present weights to those that are prefetched into the first cache, and into the
// second.
constexpr int32_t kNear = 1280, kFar = 16384;
static_assert(kPairRows == kTileRows && kGroupColumns == 2 * kTilePairs);

// The sums of one tile of activations and one panel.
struct alignas(64) PanelSums {
  __m512i of[2][kTileRows];  // [half of the panel][output row][row of activations]
};

// sums += weights * activations, for one group of a panel.
template <bool kTwo>
SLIPSTREAM_INLINE void add_group_product(const std::byte* weights, const std::byte* first, const std::byte* second,
                                         int64_t stride) {
  _tile_loadd(6, first, stride);
  _tile_loadd(4, weights, kTileBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(5, weights + kWideTileBytes, kTileBytes);
  _tile_dpbf16ps(1, 5, 6);
  if constexpr (kTwo) {
    _tile_loadd(7, second, stride);
    _tile_dpbf16ps(2, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <bool kTwo>
SLIPSTREAM_INLINE void store_panel_sums(PanelSums* to) {
  _tile_stored(0, to[0].of[0], kTileBytes);
  _tile_stored(1, to[0].of[1], kTileBytes);
  if constexpr (kTwo) {
    _tile_stored(2, to[1].of[0], kTileBytes);
    _tile_stored(3, to[1].of[1], kTileBytes);
  }
}
template <bool kTwo>
SLIPSTREAM_INLINE void load_panel_sums(const PanelSums* from) {
  _tile_loadd(0, from[0].of[0], kTileBytes);
  _tile_loadd(1, from[0].of[1], kTileBytes);
  if constexpr (kTwo) {
    _tile_loadd(2, from[1].of[0], kTileBytes);
    _tile_loadd(3, from[1].of[1], kTileBytes);
  }
}

// Writes the sums of tile `tile` to a panel's columns of out.
SLIPSTREAM_INLINE void write_sums(const LinearArgs& args, int32_t panel, int32_t tile, PanelSums& sums) {
  const int32_t first = tile * kTileRows, rows = pair_rows(args.rows - first);
  float* out = args.out + first * args.out_stride + panel * kPanelRows;
  Tiles::fence();
#pragma GCC unroll 2
  for (int32_t half = 0; half < 2; ++half) {
    const __mmask16 columns = first_lanes(args.out_cols - panel * kPanelRows - half * kLanes);
    transpose(sums.of[half]);
    for (int32_t row = 0; row < rows; ++row) {
      _mm512_mask_storeu_epi32(out + row * args.out_stride + half * kLanes, columns, sums.of[half][row]);
    }
  }
}

template <WeightFormat kFormat>
class PanelProduct {
 public:
  PanelProduct(const LinearArgs& args, int32_t panel)
      : args_(args),
        panel_(panel),
        groups_(groups_of(args.in_cols)),
        stride_(int64_t{pair_rows(args.rows)} * 4),
        weights_(args.panels + panel * panel_bytes(kFormat, args.in_cols)) {}

  // All rows are in one tile or two: their sums stay in registers, and a group is widened while the
  // one before it is multiplied.
  template <bool kTwo>
  void few() const {
    alignas(64) std::byte wide[2][kWideGroupBytes];
    clear_sums();
    widen<true>(0, wide[0]);
    for (int32_t group = 0; group < groups_; ++group) {
      if (group + 1 < groups_) widen<true>(group + 1, wide[(group + 1) % 2]);
      Tiles::fence();
      add_group_product<kTwo>(wide[group % 2], activations(0, group), activations(1, group), stride_);
      Tiles::fence();  // the next group but one is widened to the same place
    }
    PanelSums sums[2];
    store_panel_sums<kTwo>(sums);
    write_sums(args_, panel_, 0, sums[0]);
    if (kTwo) write_sums(args_, panel_, 1, sums[1]);
  }

  // The tiles [begin, end), at most kTilesAtOnce.
  void many(int32_t begin, int32_t end) const {
    alignas(64) std::byte wide[kGroupsAtOnce][kWideGroupBytes];
    PanelSums sums[kTilesAtOnce];
    for (int32_t first = 0; first < groups_; first += kGroupsAtOnce) {
      const int32_t last = first + kGroupsAtOnce < groups_ ? first + kGroupsAtOnce : groups_;
      for (int32_t group = first; group < last; ++group) widen<false>(group, wide[group - first]);
      Tiles::fence();
      int32_t tile = begin;
      for (; tile + 1 < end; tile += 2) {
        if (last == groups_) fetch_out(tile, 2);
        add_block<true>(tile, first, last, wide[0], &sums[tile - begin]);
      }
      if (tile < end) add_block<false>(tile, first, last, wide[0], &sums[tile - begin]);
    }
    for (int32_t tile = begin; tile < end; ++tile) write_sums(args_, panel_, tile, sums[tile - begin]);
  }

 private:
  template <bool kFew>
  [[gnu::always_inline]] void widen(int32_t group, std::byte* to) const {
    const std::byte* from = weights_ + group * group_bytes(kFormat);
    for (int64_t line = 0; line < group_bytes(kFormat); line += kWordBytes) {
      if (kFew) __builtin_prefetch(from + line + kNear, 0, 3);
      __builtin_prefetch(from + line + kFar, 0, 2);
    }
    widen_rows<kFormat>(from, to);
  }
  // The rows of out that these tiles' sums go to, before they are written.
  [[gnu::always_inline]] void fetch_out(int32_t tile, int32_t tiles) const {
    const int32_t first = tile * kTileRows, last = first + tiles * kTileRows < args_.rows ? first + tiles * kTileRows : args_.rows;
    for (int32_t row = first; row < last; ++row) {
      const float* out = args_.out + row * args_.out_stride + panel_ * kPanelRows;
      __builtin_prefetch(out, 1);
      __builtin_prefetch(out + kLanes, 1);
    }
  }
  template <bool kTwo>
  void add_block(int32_t tile, int32_t first, int32_t last, const std::byte* wide, PanelSums* sums) const {
    first == 0 ? clear_sums() : load_panel_sums<kTwo>(sums);
    for (int32_t group = first; group < last; ++group, wide += kWideGroupBytes) {
      add_group_product<kTwo>(wide, activations(tile, group), activations(tile + 1, group), stride_);
    }
    store_panel_sums<kTwo>(sums);
  }
  const std::byte* activations(int32_t tile, int32_t group) const {
    return static_cast<const std::byte*>(args_.in) + (int64_t{tile} * groups_ + group) * kTilePairs * stride_;
  }

  const LinearArgs& args_;
  int32_t panel_, groups_;
  int64_t stride_;  // bytes between pairs of a tile of activations
  const std::byte* weights_;
};

template <WeightFormat kFormat>
void widened_tiles_linear(const LinearArgs& args, int32_t begin, int32_t end) {
  const Tiles shapes(kTileRows, kTilePairs, pair_rows(args.rows));
  const int32_t tiles = (args.rows + kTileRows - 1) / kTileRows;
  for (int32_t panel = begin; panel < end; ++panel) {
    const PanelProduct<kFormat> product(args, panel);
    if (tiles == 1) {
      product.template few<false>();
    } else if (tiles == 2) {
      product.template few<true>();
    } else {
      for (int32_t tile = 0; tile < tiles; tile += kTilesAtOnce) {
        product.many(tile, tile + kTilesAtOnce < tiles ? tile + kTilesAtOnce : tiles);
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
