#include "common/sampling/list_tokens.h"

#include <algorithm>
#include <limits>

#include "common/sampling/row_scan.h"
#include "common/sampling/vector_path.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

#ifdef __x86_64__
// No compiler makes a compress of a plain loop, and one by one costs eight times as much.
[[gnu::target("arch=x86-64-v4")]] size_t list_v4(std::span<const float> logits, float scale, float floor,
                                                 std::span<const float> block_max, TokenId* ids, float* out) {
  const __m512 by = _mm512_set1_ps(scale), least = _mm512_set1_ps(floor), masked = _mm512_set1_ps(kMasked);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  size_t listed = 0;
  for (size_t block = 0; block < block_max.size(); ++block) {
    if (block_max[block] < floor) continue;
    const size_t end = std::min((block + 1) * kScanBlock, logits.size());
    for (size_t token = block * kScanBlock; token < end; token += 16) {
      const auto there = static_cast<__mmask16>(end - token < 16 ? (1u << (end - token)) - 1 : 0xFFFFu);
      const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(there, logits.data() + token), by);
      const __mmask16 high = _mm512_mask_cmp_ps_mask(there, scaled, least, _CMP_GE_OQ);
      const __mmask16 kept = _mm512_mask_cmp_ps_mask(high, scaled, masked, _CMP_GT_OQ);
      const __m512i id = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(token)), lanes);
      _mm512_storeu_si512(ids + listed, _mm512_maskz_compress_epi32(kept, id));
      _mm512_storeu_ps(out + listed, _mm512_maskz_compress_ps(kept, scaled));
      listed += static_cast<size_t>(__builtin_popcount(kept));
    }
  }
  return listed;
}
#endif

}  // namespace

size_t list_tokens(std::span<const float> logits, float scale, float floor, std::span<const float> block_max, TokenId* ids,
                   float* scaled) {
#ifdef __x86_64__
  if (vector_path() == VectorPath::v4) return list_v4(logits, scale, floor, block_max, ids, scaled);
#endif
  size_t listed = 0;
  for (size_t block = 0; block < block_max.size(); ++block) {
    if (block_max[block] < floor) continue;
    const size_t end = std::min((block + 1) * kScanBlock, logits.size());
    for (size_t token = block * kScanBlock; token < end; ++token) {
      const float value = logits[token] * scale;
      ids[listed] = static_cast<TokenId>(token);
      scaled[listed] = value;
      listed += (value >= floor) & (value > kMasked);
    }
  }
  return listed;
}

}  // namespace slipstream
