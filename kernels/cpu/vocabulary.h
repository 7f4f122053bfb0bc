// The cpu kernels that sampling is made of. They run over one row of logits: bounds of its blocks,
// the list of its high tokens, sums of its fixed-point exponentials, and the noise levels of a
// position. As in kernels.h, each path has a table of functions over raw pointers, which allocate
// nothing and know nothing about threads.
//
// All paths give the same bits: sums of integers are exact, sums of floats run in one order, and no
// product is contracted with a sum.
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
  float highest = 0;    // the highest bound; without levels, the highest scaled logit
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

// least <= the sum that exp_sum() gives <= most.
struct ExpSumBounds {
  uint64_t least = 0, most = 0;
};

struct VocabularyKernels {
  // Bounds the keys of each block, and finds whether the row is usable.
  //
  //   bounds  [blocks] gets max over the block of logit * scale + level * kNoiseLevelNats
  //     (kernels/exact/noise.h), terms within 1 float ulp
  //   levels  [blocks * kScanBlock], or null: without noise
  //
  // REQUIRES: vocabulary > 0.
  RowScan (*scan)(const float* logits, int64_t vocabulary, float scale, const uint8_t* levels, float* bounds) = nullptr;

  // Fills ids (ascending) and scaled with the tokens that are not masked and whose logit * scale is
  // at least `floor`. Returns how many there are.
  int64_t (*list)(const ListArgs& args) = nullptr;

  // out [count] = exp_fixed(scaled - highest) (kernels/exact/exp_fixed.h). Returns the sum.
  // REQUIRES: highest is at least every entry of `scaled`.
  uint64_t (*exp_each)(const float* scaled, int64_t count, float highest, uint64_t* out) = nullptr;

  // The sum of exp_fixed(logit * scale - highest) over a row. REQUIRES: no logit is NaN or +inf;
  // highest is the row's, scaled.
  uint64_t (*exp_sum)(const float* logits, int64_t vocabulary, float scale, float highest) = nullptr;

  // Bounds of that sum, for a fraction of its cost. REQUIRES: the same, and at most 2^18 logits.
  ExpSumBounds (*exp_sum_bounds)(const float* logits, int64_t vocabulary, float scale, float highest) = nullptr;

  // levels: [blocks * 64] gets the noise level (kernels/exact/noise.h) of each token for this key.
  void (*noise_levels)(const NoiseKey& key, int64_t blocks, uint8_t* levels) = nullptr;
};

const VocabularyKernels& vocabulary_kernels(CpuPath path);  // REQUIRES (unchecked): the path is available
const VocabularyKernels& best_vocabulary_kernels();         // those of best_cpu_path()

// The tables behind them. Each stands in a file of its own with its own compile flags.
extern const VocabularyKernels kPortableVocabulary, kAvx2Vocabulary, kAvx512Vocabulary;

}  // namespace slipstream
