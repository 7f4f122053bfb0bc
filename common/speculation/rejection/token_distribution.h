// A distribution over tokens as integer weights: p(x) = weight(x) / total. Sums of integers are
// exact and do not depend on the order of addition, so the rules of this folder can tell "no mass
// left" from "almost none".
//
//   target p   what the processing chain keeps of a row of logits (sampling/chain.h), with the
//              weights round(exp(s_v - s_max) * 2^44) (exact/exp_fixed.h). It defines p for
//              every rule of the ratio family.
//   draft q    the kDraftDistributionTokensMax likeliest tokens, with weights that add up to
//              kDraftDistributionTotal. A drafter first quantises q, then samples from it, then
//              sends it, so the verifier reads exactly what was sampled from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/sampling/chain.h"

namespace slipstream {

// Where the tokens of a distribution are that a view does not list: in the memory of a GPU.
class UnlistedTokens {
 public:
  virtual ~UnlistedTokens() = default;
  // As TokenDistribution::at().
  virtual TokenId at(uint64_t mark, std::span<const TokenId> without) const = 0;
};

// A view. Its owner must outlive it.
struct TokenDistribution {
  std::span<const TokenId> ids;       // ascending
  std::span<const uint64_t> weights;  // [ids]
  uint64_t total = 0;                 // sum of the weights; 0: there is no distribution
  const UnlistedTokens* unlisted =
      nullptr;  // has tokens that are not listed, whose weights are in the total; null: none is missing

  bool empty() const { return total == 0; }
  // The weights stand side by side in the order of their tokens, but for those of `without`
  // (ascending): the token on whose weight `mark` lies. REQUIRES: mark is below their sum; the
  // tokens of `without` are listed, if they have a weight.
  TokenId at(uint64_t mark, std::span<const TokenId> without) const;
  uint64_t weight(TokenId token) const;  // 0: the token cannot be sampled. REQUIRES: it is listed, unless all are
  double probability(TokenId token) const { return static_cast<double>(weight(token)) / static_cast<double>(total); }
};

// A distribution that owns its memory, to be reused.
struct OwnedDistribution {
  std::vector<TokenId> ids;
  std::vector<uint64_t> weights;
  uint64_t total = 0;

  TokenDistribution view() const { return {ids, weights, total}; }
  void add(TokenId id, uint64_t weight);  // REQUIRES: ids come in ascending order
  void clear();
};

// The target's p after a row of logits [vocabulary]. Returns false, and leaves p empty, if the
// chain refuses the row.
bool target_distribution(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch,
                         OwnedDistribution& p);

// The draft model's q after a row of logits [vocabulary]. Returns false, and leaves q empty, if the
// chain refuses the row.
bool draft_distribution(std::span<const float> logits, SamplingParams params, ChainScratch& scratch, OwnedDistribution& q);

// Keeps the `most` likeliest tokens (the lowest id on ties). Their weights stay in proportion, are
// at least 1, and add up to kDraftDistributionTotal. REQUIRES: the distribution is not empty; 1 <=
// most <= kDraftDistributionTotal.
inline constexpr uint64_t kDraftDistributionTotal = uint64_t{1} << 15;
void quantise(const TokenDistribution& distribution, size_t most, OwnedDistribution& out);

// H(p) = -sum p log p, in nats.
double entropy(const TokenDistribution& p);

// TV(p, q) = 1/2 sum |p - q|.
double total_variation(const TokenDistribution& p, const TokenDistribution& q);

}  // namespace slipstream
