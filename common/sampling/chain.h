// The processing chain: a row of logits becomes the tokens that may be sampled and their scaled
// logits. In this order:
//   temperature  s_v = logit_v * (1 / temperature), in float; 0 keeps the argmax alone (lowest id on ties), unscaled
//   top-k        the k highest
//   top-p        the smallest set whose share of what top-k left is at least p
//   min-p        those with probability at least min_p times the highest
// Tokens are ordered by s_v, then lowest id first. A logit of -inf is masked: never kept.
// Probabilities are compared as integers, round(exp(s_v - s_max) * 2^44) by arithmetic of our own
// (exp_fixed.h), so that no sum depends on its order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/sampling/params.h"
#include "kernels/cpu/vocabulary.h"

namespace slipstream {

// An error names the field, its value and its range.
Result<void> validate(const SamplingParams& params);

// Whether any of top-k, top-p, min-p is on.
inline bool filters(const SamplingParams& params) { return params.top_k > 0 || params.top_p < 1.0F || params.min_p > 0.0F; }

struct Kept {
  std::span<const TokenId> ids;   // ascending
  std::span<const float> scaled;  // [ids]
  float highest = 0;              // of scaled
};

// Reused from row to row: nothing is allocated once it has grown. Not thread-safe.
struct ChainScratch {
  const VocabularyKernels* kernels = &best_vocabulary_kernels();  // any give the same answers
  struct Candidate {
    float scaled;
    TokenId id;
    uint64_t weight;
  };
  static constexpr int kBuckets = 512;
  std::array<uint64_t, kBuckets> mass{};  // by distance from the highest logit
  std::vector<Candidate> boundary;        // the bucket in which a filter ends
  std::vector<float> block_max;           // [blocks of 64]
  // The first `listed` of these may still be kept; the rest is room.
  size_t listed = 0;
  std::vector<TokenId> ids;  // ascending
  std::vector<float> scaled;
  std::vector<uint64_t> weights;  // what a filter counts
};

// What a temperature makes of a logit: logit * scale_of(temperature), rounded to float once.
inline float scale_of(float temperature) { return 1.0F / temperature; }

// kernels.scan() of a row that is not empty, after making room for its bounds.
RowScan scan_row(const VocabularyKernels& kernels, std::span<const float> logits, float scale, const uint8_t* levels,
                 std::vector<float>& bounds);

// logits: [vocabulary]. Params must have passed validate(). Nothing when a logit is NaN or +inf,
// before or after scaling, or when every token is masked. The spans live in the scratch.
std::optional<Kept> process(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch);

// The highest logit, lowest id on ties; -1 where process() gives nothing.
TokenId argmax(std::span<const float> logits, ChainScratch& scratch);

}  // namespace slipstream
