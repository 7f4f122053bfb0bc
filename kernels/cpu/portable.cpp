// Plain C++: what every path is held to, and what runs where nothing better does.
#include "kernels/cpu/attend.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tiles.h"

namespace slipstream {
namespace {

// Weights of two neighbouring columns of sixteen rows, widened.
struct Pair {
  Lanes even, odd;
};
SLIPSTREAM_INLINE Pair widen(const uint16_t* weight) {
  LanesInt bits;
  std::memcpy(&bits, weight, sizeof(bits));
  const LanesInt even = bits << 16, odd = bits & static_cast<int32_t>(0xFFFF0000u);
  Pair pair;
  std::memcpy(&pair.even, &even, sizeof(even));
  std::memcpy(&pair.odd, &odd, sizeof(odd));
  return pair;
}

// kRows rows times one panel. Of each pair of columns the even one is added first, on every row count alike.
template <int kRows>
void tile(const LinearArgs& args, int32_t panel, int32_t row) {
  const float* in = static_cast<const float*>(args.in) + row * args.in_stride;
  const int32_t first = panel * kPanelRows;
  for (int32_t half = 0; half < kPanelRows && first + half < args.out_cols; half += kLanes) {
    const uint16_t* weight = args.panels + panel * panel_elements(args.in_cols) + 2 * half;
    Lanes acc[kRows] = {};
    for (int32_t k = 0; k < args.in_cols; k += 2, weight += 2 * kPanelRows) {
      const Pair pair = widen(weight);
      for (int t = 0; t < kRows; ++t) {
        acc[t] = multiply_add(pair.even, all(in[t * args.in_stride + k]), acc[t]);
        acc[t] = multiply_add(pair.odd, all(in[t * args.in_stride + k + 1]), acc[t]);
      }
    }
    const int32_t left = args.out_cols - first - half;
    for (int t = 0; t < kRows; ++t) {
      store_part(args.out + (row + t) * args.out_stride + first + half, acc[t], left < kLanes ? left : kLanes);
    }
  }
}

constexpr TileFn kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>};

void linear(const LinearArgs& args, int32_t begin, int32_t end) { linear_by_tiles(kTiles, args, begin, end); }

}  // namespace

const Kernels kPortableKernels = {.path = CpuPath::portable,
                                  .linear = linear,
                                  .to_bf16 = nullptr,
                                  .attend_scores = attend_scores,
                                  .attend_weights = attend_weights,
                                  .attend_values = attend_values,
                                  .add_rms_norm = add_rms_norm,
                                  .rope = rope,
                                  .silu_gate = silu_gate};

}  // namespace slipstream
