// The avx512_bf16 path: bf16 matrices, and attention over a bf16 cache, by VDPBF16PS. The other
// kernels are those of the avx512_vnni path; they are compiled here once more, so that the table is
// a constant.
#include <immintrin.h>

#include "kernels/cpu/pair_attend.h"
#include "kernels/cpu/table.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

// kRows rows of activations times one panel. VDPBF16PS adds the product of the odd column, then
// that of the even one, in one fixed way, whatever kRows is.
template <int kRows>
void tile(const LinearArgs& args, int32_t panel, int32_t row) {
  const auto* weight = reinterpret_cast<const __m512i*>(args.panels + panel * panel_bytes(WeightFormat::bf16, args.in_cols));
  const uint16_t* in = static_cast<const uint16_t*>(args.in) + int64_t{row} * args.in_cols;
  __m512 low[kRows], high[kRows];
  for (int t = 0; t < kRows; ++t) low[t] = high[t] = _mm512_setzero_ps();
  for (int32_t k = 0; k < args.in_cols; k += 2, weight += 2) {
    const auto first = reinterpret_cast<__m512bh>(_mm512_loadu_si512(weight));
    const auto second = reinterpret_cast<__m512bh>(_mm512_loadu_si512(weight + 1));
    fetch_ahead<kRows>(weight);
    fetch_ahead<kRows>(weight + 1);
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      int pair;
      __builtin_memcpy(&pair, in + int64_t{t} * args.in_cols + k, sizeof(pair));
      const auto columns = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      low[t] = _mm512_dpbf16_ps(low[t], first, columns);
      high[t] = _mm512_dpbf16_ps(high[t], second, columns);
    }
  }
  const int32_t first_col = panel * kPanelRows, left = args.out_cols - first_col;
  const uint32_t mask = left < kPanelRows ? (1u << left) - 1 : ~0u;
  for (int t = 0; t < kRows; ++t) {
    float* out = args.out + (row + t) * args.out_stride + first_col;
    _mm512_mask_storeu_ps(out, static_cast<__mmask16>(mask), low[t]);
    _mm512_mask_storeu_ps(out + kLanes, static_cast<__mmask16>(mask >> kLanes), high[t]);
  }
}

constexpr TileFn kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>,  tile<5>,  tile<6>,
                             tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

void linear(const LinearArgs& args, int32_t begin, int32_t end) { linear_by_tiles(kTiles, args, begin, end); }

constexpr Kernels bf16_kernels() {
  Kernels kernels = with_bf16_cache(kernels_of(CpuPath::avx512_bf16));
  kernels.linear[static_cast<int>(WeightFormat::bf16)] = {.in = Activations::bf16, .run = linear};
  kernels.attend_queries_best = kPairQueriesBest;
  kernels.attend_scores = pair_attend_scores;
  kernels.attend_values = pair_attend_values;
  return kernels;
}

}  // namespace

const Kernels kAvx512Bf16Kernels = bf16_kernels();

}  // namespace slipstream
