// The cpu kernels over one row of a vocabulary, which sampling is made of: bounds of a row of
// logits, the list of its high tokens, sums of its fixed-point exponentials, and the noise levels
// of a position. A table of plain functions over raw pointers for each path, as in kernels.h.
// Nothing here allocates or knows threads.
//
// All paths give the same bits: sums of integers are exact, sums of floats run in one order, and
// nothing is contracted. So it does not matter which path a row takes.
//
// A block is 64 consecutive tokens; the last one of a row may be shorter. -inf masks a token.
#pragma once

#include <cstdint>

#include "kernels/cpu/path.h"
#include "kernels/exact/noise.h"

namespace slipstream {

inline constexpr int64_t kScanBlock = 64;  // tokens
inline constexpr int64_t kListRoom = 16;   // entries that list() writes behind the last token that it lists

constexpr int64_t scan_blocks(int64_t vocabulary) { return (vocabulary + kScanBlock - 1) / kScanBlock; }

struct RowScan {
  float highest = 0;    // of the bounds: without levels, the highest scaled logit
  bool finite = false;  // no NaN, no +inf, and at least one token that is not masked
};

struct ListArgs {
  const float* logits = nullptr;  // [vocabulary]
  int64_t vocabulary = 0;
  float scale = 1, floor = 0;
  const float* block_max = nullptr;  // [blocks] the bounds of scan() without levels
  int32_t* ids = nullptr;            // [vocabulary + kListRoom]
  float* scaled = nullptr;           // [vocabulary + kListRoom]
};

// least <= the exact sum <= most.
struct ExpSumBounds {
  uint64_t least = 0, most = 0;
};

struct VocabularyKernels {
  // Is a row usable, how high does it go, and where could its winner be? bounds: [blocks] gets the
  // maximum over the block of logit * scale + level * kNoiseLevelNats (noise.h); each term is
  // within 1 float ulp. levels: [blocks * 64], or null for none. REQUIRES: vocabulary > 0.
  RowScan (*scan)(const float* logits, int64_t vocabulary, float scale, const uint8_t* levels, float* bounds) = nullptr;

  // Fills ids (ascending) and scaled with the tokens that are not masked and whose logit * scale is
  // at least `floor`. Returns how many there are.
  int64_t (*list)(const ListArgs& args) = nullptr;

  // exp_fixed (exp_fixed.h) of scaled - highest for each of [count]. Returns their sum. REQUIRES:
  // highest is not below any.
  uint64_t (*exp_each)(const float* scaled, int64_t count, float highest, uint64_t* out) = nullptr;

  // The sum of exp_fixed(logit * scale - highest) over a row. REQUIRES: no logit is NaN or +inf;
  // highest is the row's, scaled.
  uint64_t (*exp_sum)(const float* logits, int64_t vocabulary, float scale, float highest) = nullptr;

  // Bounds of that sum, which cost a fraction of it. REQUIRES: also at most 2^18 logits.
  ExpSumBounds (*exp_sum_bounds)(const float* logits, int64_t vocabulary, float scale, float highest) = nullptr;

  // levels: [blocks * 64] gets the noise level (noise.h) of each token for this key.
  void (*noise_levels)(const NoiseKey& key, int64_t blocks, uint8_t* levels) = nullptr;
};

const VocabularyKernels& vocabulary_kernels(CpuPath path);  // of an available path
const VocabularyKernels& best_vocabulary_kernels();         // of best_cpu_path()

// The tables behind them, one a file with its own compile flags.
extern const VocabularyKernels kPortableVocabulary, kAvx2Vocabulary, kAvx512Vocabulary;

}  // namespace slipstream
