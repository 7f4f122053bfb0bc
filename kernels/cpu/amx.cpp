// AMX: bf16 matrices by TDPBF16PS, those of the small formats by TDPBSUD where there are rows enough; all else as on the
// avx512_bf16 path. A tile instruction adds up each element's products in one fixed way, whatever the tile's other rows hold
// and however many it has.
#include <immintrin.h>

#include "kernels/cpu/table.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

constexpr int32_t kTileRows = 16;

// Tiles 0 to 3 are sums, [rows][16]; 4 and 5 activations, [rows][columns]; 6 and 7 weights, [words][16 outputs][4 bytes], a
// word being 4 bytes of neighbouring columns.
class Tiles {
 public:
  Tiles(int32_t rows, int32_t words) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = static_cast<uint16_t>(tile == 4 || tile == 5 ? 4 * words : 64);
      shapes.rows[tile] = static_cast<uint8_t>(tile < 6 ? rows : words);
    }
    asm volatile("" ::: "memory");  // the intrinsics do not say that they read memory
    _tile_loadconfig(&shapes);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { _tile_release(); }
};

// bf16: rows `first` and on, and `second` and on, each a tile of them, times one panel.
constexpr int32_t kStepColumns = 32, kStepPairs = kStepColumns / 2, kPairBytes = 4 * kPanelRows;

template <bool kTwo>
SLIPSTREAM_INLINE void multiply_step(const std::byte* weight, const std::byte* first, const std::byte* second, int64_t stride) {
  _tile_loadd(6, weight, kPairBytes);
  _tile_loadd(7, weight + kPairBytes / 2, kPairBytes);
  _tile_loadd(4, first, stride);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kTwo) {
    _tile_loadd(5, second, stride);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// The last columns, fewer than a step's, with zeros behind.
struct alignas(64) LastStep {
  std::byte weight[kStepPairs * kPairBytes] = {}, first[kTileRows * 64] = {}, second[kTileRows * 64] = {};
};

template <bool kTwo>
void multiply_panel(const LinearArgs& args, int32_t panel, int32_t first, int32_t second, int32_t rows) {
  const std::byte* weight = args.panels + panel * panel_bytes(WeightFormat::bf16, args.in_cols);
  const int64_t stride = int64_t{args.in_cols} * 2;
  const std::byte *in = static_cast<const std::byte*>(args.in) + first * stride,
                  *more = static_cast<const std::byte*>(args.in) + second * stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const int32_t whole = args.in_cols / kStepColumns * kStepColumns, left = args.in_cols - whole;
  for (int32_t k = 0; k < whole; k += kStepColumns, weight += kStepPairs * kPairBytes, in += 64, more += 64) {
    for (int32_t line = 0; line < kStepPairs * kPairBytes; line += 64) {
      if (!kTwo) __builtin_prefetch(weight + 8192 + line);
    }
    multiply_step<kTwo>(weight, in, more, stride);
  }
  if (left != 0) {
    LastStep last;
    std::memcpy(last.weight, weight, static_cast<size_t>(left / 2 * kPairBytes));
    for (int32_t row = 0; row < rows; ++row) {
      std::memcpy(last.first + row * 64, in + row * stride, static_cast<size_t>(left) * 2);
      if (kTwo) std::memcpy(last.second + row * 64, more + row * stride, static_cast<size_t>(left) * 2);
    }
    asm volatile("" ::: "memory");
    multiply_step<kTwo>(last.weight, last.first, last.second, 64);
  }
  const int32_t col = panel * kPanelRows, cols = args.out_cols - col < kPanelRows ? args.out_cols - col : kPanelRows;
  alignas(64) float part[2 * kTileRows][kPanelRows];
  const bool full = cols == kPanelRows;
  const int64_t to_stride = (full ? args.out_stride : kPanelRows) * 4;
  float* to = full ? args.out + first * args.out_stride + col : part[0];
  _tile_stored(0, to, to_stride);
  _tile_stored(1, to + kLanes, to_stride);
  if constexpr (kTwo) {
    float* more_to = full ? args.out + second * args.out_stride + col : part[kTileRows];
    _tile_stored(2, more_to, to_stride);
    _tile_stored(3, more_to + kLanes, to_stride);
  }
  for (int32_t i = 0; i < (full ? 0 : kTwo ? 2 * kTileRows : rows); ++i) {
    const int32_t row = i < kTileRows ? first + i : second + i - kTileRows;
    std::memcpy(args.out + row * args.out_stride + col, part[i], static_cast<size_t>(cols) * 4);
  }
}

// More rows than a tile has go two tiles at a time; the last ones, where they do not fill theirs, take rows along that were
// done already, and find the same for them.
void bf16_linear(const LinearArgs& args, int32_t begin, int32_t end) {
  const int32_t rows = args.rows < kTileRows ? args.rows : kTileRows;
  const Tiles tiles(rows, kStepPairs);
  for (int32_t panel = begin; panel < end; ++panel) {
    for (int32_t row = 0; row < args.rows; row += 2 * kTileRows) {
      const int32_t last = args.rows - rows;
      if (args.rows - row > kTileRows) {
        multiply_panel<true>(args, panel, row, row + kTileRows < last ? row + kTileRows : last, rows);
      } else {
        multiply_panel<false>(args, panel, row < last ? row : last, 0, rows);
      }
    }
  }
}

constexpr Kernels amx_kernels() {
  Kernels kernels = kernels_of(CpuPath::amx);
  kernels.linear[static_cast<int>(WeightFormat::bf16)] = {.in = Activations::bf16, .run = bf16_linear};
  kernels.to_bf16 = to_bf16;
  return kernels;
}

}  // namespace

const Kernels kAmxKernels = amx_kernels();

}  // namespace slipstream
