// The paths amx and amx_bf16: bf16 matrices, and attention over a bf16 cache, by tiles (TDPBF16PS).
// The other kernels are those of the avx512_vnni path.
//
// amx_bf16 multiplies the small formats by tiles, too, widened to bf16 with their scales in them.
// Products of q alone would have to leave the tiles for each group of 32 columns, to be multiplied
// by their scales, which takes about as long as the tile products save: that was measured with
// TDPBSSD, and with TDPBF16PS over q (docs/lab/PERFORMANCE.md).
#include "kernels/cpu/amx_attend.h"
#include "kernels/cpu/amx_linear.h"
#include "kernels/cpu/amx_small_linear.h"
#include "kernels/cpu/table.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

constexpr Kernels amx_kernels(CpuPath path) {
  Kernels kernels = with_bf16_cache(kernels_of(path));
  kernels.linear[static_cast<int>(WeightFormat::bf16)] = {.in = Activations::bf16, .run = tiled_linear};
  kernels.attend_queries_best = kTiledQueriesBest;
  kernels.screened_rows_best = 4;
  kernels.attend_scores = tiled_attend_scores;
  kernels.attend_values = tiled_attend_values;
  return kernels;
}

template <WeightFormat kFormat>
constexpr LinearKernel kWidened = {
    .in = Activations::bf16_pairs, .layout = PanelLayout::rows, .run = widened_tiles_linear<kFormat>};

constexpr Kernels amx_bf16_kernels() {
  Kernels kernels = amx_kernels(CpuPath::amx_bf16);
  kernels.linear[static_cast<int>(WeightFormat::q8_0)] = kWidened<WeightFormat::q8_0>;
  kernels.linear[static_cast<int>(WeightFormat::q4_0)] = kWidened<WeightFormat::q4_0>;
  kernels.linear[static_cast<int>(WeightFormat::q4_1)] = kWidened<WeightFormat::q4_1>;
  kernels.linear[static_cast<int>(WeightFormat::q5_1)] = kWidened<WeightFormat::q5_1>;
  kernels.linear[static_cast<int>(WeightFormat::q6_k)] = kWidened<WeightFormat::q6_k>;
  kernels.to_bf16_pairs = to_bf16_pairs;
  return kernels;
}

}  // namespace

const Kernels kAmxKernels = amx_kernels(CpuPath::amx);
const Kernels kAmxBf16Kernels = amx_bf16_kernels();

}  // namespace slipstream
