// Splits the rows of a linear kernel into tiles whose sums stay in registers. Private to the
// kernels' .cpp files.
#pragma once

#include <utility>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

using TileFn = void (*)(const LinearArgs& args, int32_t panel, int32_t row);

// Prefetches the part of a panel that a tile of kRows rows will need soon. A tile of many rows
// computes longer, so it prefetches farther ahead, and into L2: its activations need the few line
// fill buffers of L1. A tile of few rows prefetches kFew bytes ahead, into L1 (3) or L2 (2). The
// distances were measured (bench/linear).
template <int kRows, int kFew = 4096, int kFewInto = 3>
[[gnu::always_inline]] inline void fetch_ahead(const void* at) {
  constexpr bool kMany = kRows > 4;
  __builtin_prefetch(static_cast<const char*>(at) + (kMany ? 6144 : kFew), 0, kMany ? 2 : kFewInto);
}

template <int kTileMax>
struct TileTable {
  TileFn of[kTileMax];
};

// Runs the tiles panel by panel, so that a panel is read from memory once and from cache for every
// further tile. The rows are split into the fewest tiles of at most kTileMax rows, as even as
// possible. tiles[n - 1] computes n rows.
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
