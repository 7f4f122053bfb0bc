// Splits a linear's rows into tiles whose sums stay in registers. Private to the kernels' .cpp
// files.
#pragma once

#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

using TileFn = void (*)(const LinearArgs& args, int32_t panel, int32_t row);

// Fetches what a tile of so many rows will need of its panel. A tile with much to compute leaves
// the first cache's few places for lines under way to what it computes with, and has a longer way
// to look ahead; found by trying (bench/linear).
template <int kRows>
[[gnu::always_inline]] inline void fetch_ahead(const void* at) {
  constexpr bool kMany = kRows > 4;
  __builtin_prefetch(static_cast<const char*>(at) + (kMany ? 6144 : 3072), 0, kMany ? 2 : 3);
}

template <int kTileMax>
struct TileTable {
  TileFn of[kTileMax];
};

// Panel by panel, so that one is read from memory once and from cache for every further tile; rows
// in the fewest tiles of at most kTileMax, as even as they come. tiles[n - 1] does n rows.
template <int kTileMax>
void linear_by_tiles(const TileFn (&tiles)[kTileMax], const LinearArgs& args, int32_t begin, int32_t end) {
  const int32_t count = (args.rows + kTileMax - 1) / kTileMax;
  for (int32_t panel = begin; panel < end; ++panel) {
    int32_t row = 0;
    for (int32_t tile = 0; tile < count; ++tile) {
      const int32_t next = static_cast<int32_t>(int64_t{args.rows} * (tile + 1) / count);
      tiles[next - row - 1](args, panel, row);
      row = next;
    }
  }
}

}  // namespace
}  // namespace slipstream
