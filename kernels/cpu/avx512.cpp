// AVX-512 F, BW, DQ, VL: bf16 weights widened in registers, f32 activations, fused multiply-add.
#include <immintrin.h>

#include "kernels/cpu/attend.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tiles.h"

namespace slipstream {
namespace {

constexpr int32_t kPrefetchWords = 48;  // 64-byte words ahead of the one in use: 3 KB

// kRows rows times one panel. Of each pair of columns the even one is added first, on every row count alike.
template <int kRows>
void tile(const LinearArgs& args, int32_t panel, int32_t row) {
  const auto* weight = reinterpret_cast<const __m512i*>(args.panels + panel * panel_elements(args.in_cols));
  const float* in = static_cast<const float*>(args.in) + row * args.in_stride;
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
  __m512 low[kRows], high[kRows];
  for (int t = 0; t < kRows; ++t) low[t] = high[t] = _mm512_setzero_ps();
  for (int32_t k = 0; k < args.in_cols; k += 2, weight += 2) {
    const __m512i first = _mm512_loadu_si512(weight), second = _mm512_loadu_si512(weight + 1);
    _mm_prefetch(reinterpret_cast<const char*>(weight + kPrefetchWords), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(weight + kPrefetchWords + 1), _MM_HINT_T0);
    const __m512 low_even = _mm512_castsi512_ps(_mm512_slli_epi32(first, 16));
    const __m512 low_odd = _mm512_castsi512_ps(_mm512_and_si512(first, upper));
    const __m512 high_even = _mm512_castsi512_ps(_mm512_slli_epi32(second, 16));
    const __m512 high_odd = _mm512_castsi512_ps(_mm512_and_si512(second, upper));
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      const __m512 even = _mm512_set1_ps(in[t * args.in_stride + k]), odd = _mm512_set1_ps(in[t * args.in_stride + k + 1]);
      low[t] = _mm512_fmadd_ps(low_odd, odd, _mm512_fmadd_ps(low_even, even, low[t]));
      high[t] = _mm512_fmadd_ps(high_odd, odd, _mm512_fmadd_ps(high_even, even, high[t]));
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

}  // namespace

const Kernels kAvx512Kernels = {.path = CpuPath::avx512,
                                .linear = linear,
                                .to_bf16 = nullptr,
                                .attend_scores = attend_scores,
                                .attend_weights = attend_weights,
                                .attend_values = attend_values,
                                .add_rms_norm = add_rms_norm,
                                .rope = rope,
                                .silu_gate = silu_gate};

}  // namespace slipstream
