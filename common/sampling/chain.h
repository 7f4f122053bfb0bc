// The processing chain: turns a row of logits into the tokens that may be sampled and their scaled
// logits s_v. In this order:
//
//   1. temperature  s_v = logit_v * (1 / temperature), in float; 0 keeps the argmax only, unscaled
//   2. top-k        keeps the k highest s_v
//   3. top-p        keeps the shortest prefix, in falling order, that has at least the share p of what top-k left
//   4. min-p        keeps the tokens whose probability is at least min_p times the highest
//
// Tokens are ordered by s_v, equal ones by their id, lowest first. A logit of -inf masks its token:
// it is never kept.
//
// Probabilities are integers, round(exp(s_v - s_max) * 2^44), by arithmetic of our own
// (kernels/exact/exp_fixed.h). Sums of integers are exact, so no result depends on the order of a
// sum (docs/design/NOISE.md, section 6).
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

// Checks the range of each field. An error names the field, its value and its range.
Result<void> validate(const SamplingParams& params);

// Whether any of top-k, top-p and min-p is on.
inline bool filters(const SamplingParams& params) { return params.top_k > 0 || params.top_p < 1.0F || params.min_p > 0.0F; }

// The tokens that the chain kept. A view of ChainScratch.
struct Kept {
  std::span<const TokenId> ids;   // ascending
  std::span<const float> scaled;  // [ids] s_v
  float highest = 0;              // the largest s_v
};

// Buffers that are reused from row to row: they allocate only while they grow. REQUIRES: one per
// thread.
struct ChainScratch {
  const VocabularyKernels* kernels = &best_vocabulary_kernels();  // every table gives the same bits
  struct Candidate {
    float scaled;
    TokenId id;
    uint64_t weight;
  };
  static constexpr int kBuckets = 512;
  std::array<uint64_t, kBuckets> mass{};  // weight by distance from the highest s_v
  std::vector<Candidate> boundary;        // the tokens of the bucket in which a filter ends
  std::vector<float> block_max;           // [blocks of kScanBlock tokens]

  // The candidates: the first `listed` entries of each vector. The entries behind them are room.
  size_t listed = 0;
  std::vector<TokenId> ids;  // ascending
  std::vector<float> scaled;
  std::vector<uint64_t> weights;  // what a filter adds up
};

// The factor of a temperature: s_v = logit_v * scale_of(temperature), rounded to float once.
inline float scale_of(float temperature) { return 1.0F / temperature; }

// Runs kernels.scan() on a row after making room for its bounds. REQUIRES: the row is not empty.
RowScan scan_row(const VocabularyKernels& kernels, std::span<const float> logits, float scale, const uint8_t* levels,
                 std::vector<float>& bounds);

// Runs the chain over logits [vocabulary]. Returns nullopt, "the row is refused", if a logit is NaN
// or +inf before or after scaling, or if every token is masked. The result is valid until the next
// call with this scratch. REQUIRES: validate(params) has passed.
std::optional<Kept> process(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch);

// The token with the highest of logits [vocabulary], the lowest id on ties. -1 if the row is
// refused as in process().
TokenId argmax(std::span<const float> logits, ChainScratch& scratch);

}  // namespace slipstream
