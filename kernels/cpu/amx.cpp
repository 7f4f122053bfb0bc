// The amx path: bf16 matrices, and attention over a bf16 cache, by tiles (TDPBF16PS). The other
// kernels are those of the avx512_vnni path.
//
// Tiles do not pay for the small formats. The sums of each group of 32 columns must leave the tiles
// to be multiplied by their scales, and storing tiles takes about as long as the tile products
// save. Two ways were measured: TDPBSSD, and TDPBF16PS over q widened to bf16, which holds the same
// integers exactly. Both are as fast as VPDPBUSD at 256 rows and slower below
// (docs/lab/PERFORMANCE.md).
#include "kernels/cpu/amx_attend.h"
#include "kernels/cpu/amx_linear.h"
#include "kernels/cpu/table.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

constexpr Kernels amx_kernels() {
  Kernels kernels = with_bf16_cache(kernels_of(CpuPath::amx));
  kernels.linear[static_cast<int>(WeightFormat::bf16)] = {.in = Activations::bf16, .run = tiled_linear};
  kernels.attend_queries_best = kTiledQueriesBest;
  kernels.attend_scores = tiled_attend_scores;
  kernels.attend_values = tiled_attend_values;
  return kernels;
}

}  // namespace

const Kernels kAmxKernels = amx_kernels();

}  // namespace slipstream
