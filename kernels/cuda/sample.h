// The sampling chain and the choice of tokens on a GPU, with the same answers to the bit as those
// of common/sampling (docs/design/NOISE.md): scaling, top-k, top-p, min-p, then the argmax of
// scaled logit + noise.
//
// All that a choice depends on is exact: floats are compared, weights are integers, and the noise
// is IEEE arithmetic without fused multiply-add. So it does not matter in which order threads run.
#pragma once

#include <cstdint>

#include "kernels/cuda/stream.h"

namespace slipstream::cuda {

// How a row is sampled; the fields of RowSampling (common/sampling/params.h). REQUIRES (unchecked):
// in the ranges that validate() checks (common/sampling/chain.h).
struct RowRule {
  uint64_t seed = 0;
  uint32_t choice = 0, position = 0;
  float temperature = 1;
  int32_t top_k = 0;
  float top_p = 1, min_p = 0;
};

struct RankedToken {
  int32_t token = -1;
  float confidence = 0;
};

inline constexpr int32_t kRankedTokens = 16;  // candidates of a row

inline constexpr int32_t kSampleParts = 16;  // of a row, each for one block

// Of a row that is being sampled.
struct SampleScratch {
  struct {
    float highest;
    uint32_t usable;
    uint64_t cut;
    double floor;
  } kept;  // by the filters
  struct Part {
    double key;
    int32_t token;    // -1: none
    uint32_t usable;  // the part has numbers only
  } parts[kSampleParts];

  // Of rank_tokens().
  struct Best {
    double key;
    int32_t token, padding;
  } tops[kSampleParts][kRankedTokens];  // the best of each part, the best first
  Best top[kRankedTokens];              // of the row
  uint64_t totals[kSampleParts];        // weights of the parts
};

struct SampleArgs {
  const float* logits = nullptr;     // [rows, vocabulary]; -inf masks a token
  const RowRule* rules = nullptr;    // [rows]
  int32_t* ids = nullptr;            // [rows] gets the sampled token; -1: the row is refused (common/sampling/chain.h)
  RankedToken* ranked = nullptr;     // [rows, count] gets the candidates of common/sampling/rank.h, token -1 behind the last
  SampleScratch* scratch = nullptr;  // [rows]; nothing is read that was not written
  int32_t rows = 0, vocabulary = 0;
  int32_t count = 0;  // of ranked; at most kRankedTokens
};

// Both return the CUDA runtime's error code; 0: the kernel is on the stream. Row-invariant.
int sample_tokens(const SampleArgs& args, Stream stream);  // fills ids
int rank_tokens(const SampleArgs& args, Stream stream);    // fills ranked

}  // namespace slipstream::cuda
