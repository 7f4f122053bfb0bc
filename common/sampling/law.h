// A law over tokens, as integer weights, so that its sums are exact and depend on no order. The target's is what the processing
// chain keeps of a row (chain.h): weight round(exp(s_v - s_max) * 2^44) (exp_fixed.h), which is the definition of p for
// every rule of the ratio family. A drafter's is cut and quantised first, then drawn from, then shipped (quantise.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/sampling/chain.h"

namespace slipstream {

struct Law {                          // a view
  std::span<const TokenId> ids;       // ascending
  std::span<const uint64_t> weights;  // [ids]
  uint64_t total = 0;                 // of the weights; 0: no law

  bool empty() const { return total == 0; }
  uint64_t weight(TokenId token) const;  // 0: cannot be drawn
  double probability(TokenId token) const { return static_cast<double>(weight(token)) / static_cast<double>(total); }
};

// A law and its memory, reused.
struct OwnLaw {
  std::vector<TokenId> ids;
  std::vector<uint64_t> weights;
  uint64_t total = 0;

  Law view() const { return {ids, weights, total}; }
  void add(TokenId id, uint64_t weight);  // ids come ascending
  void clear();
};

// The target's law after a row of logits [vocabulary]. False where the chain refuses the row: the law is empty then.
bool target_law(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch, OwnLaw& law);

// What a drafter draws from and ships: the `most` likeliest tokens (lowest id on ties), weights in proportion, each at least 1,
// which add up to kDraftLawTotal. `law` is not empty.
inline constexpr uint64_t kDraftLawTotal = uint64_t{1} << 15;
void quantise(const Law& law, size_t most, OwnLaw& out);

// That of a draft model after a row of logits [vocabulary]: of the kDraftLawTokensMax likeliest tokens at most. False, and
// empty, where the chain refuses the row.
bool draft_law(std::span<const float> logits, SamplingParams params, ChainScratch& scratch, OwnLaw& law);

// -sum p log p, in nats.
double entropy(const Law& law);

// Half the sum of |p - q|.
double total_variation(const Law& p, const Law& q);

}  // namespace slipstream
