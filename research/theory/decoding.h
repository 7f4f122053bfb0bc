// Decodes answers of a chain pair with the product's own drafting (SampledTreeBuilder) and
// acceptance (accept_ratio, accept_traversal, accept_biased, walk). Only the loop over rounds is
// written here.
#pragma once

#include <functional>

#include "common/speculation/rejection/accept_biased.h"
#include "research/theory/passes.h"
#include "research/theory/random_pair.h"

namespace slipstream::theory {

// Accepts or rejects the nodes of a sampled tree. `spent` of its result is empty if the rule spends
// no bias.
using Verify = std::function<BiasedWalk(const DraftTree&, TargetDistributions&, RandomSource&, AcceptScratch&)>;
Verify by_ratio();
Verify by_traversal();
Verify by_bias(const Bias& bias);

struct Answer {
  std::vector<TokenId> tokens;  // [horizon]
  int rejections = 0;           // tokens sampled from a residual or another distribution, not drafted
  double spent = 0;             // declared total variation, summed over the positions
};

// Decodes by 2411.00841, Algorithms 1 and 2 (one draft) or Algorithm 4 (a batch):
//   1. At the beginning and after each rejection, `drafts` drafts run in parallel to the horizon.
//   2. The draft whose first token is accepted is verified until its next rejection.
// In the paper drafts are free, so every position has a draft and no bonus token is emitted. A tree
// of the product ends after a few tokens; if a whole path is accepted, the next round continues
// with one draft, which has the same effect. REQUIRES: drafts * ahead <= kTreeNodesMax.
struct Batch {
  int drafts = 1;  // number of drafts after a rejection
  int ahead = 4;   // tokens of each draft in one round; does not affect the distribution
};
Answer decode_to_the_horizon(const ChainPair& pair, const Batch& batch, const Verify& verify, RandomPair& random);

// When a round stops drafting.
struct LengthPolicy {
  enum class Stop : uint8_t {
    never,
    exact,      // SpecDec++ with a perfect head: 1 - prod min(1, p / q) > threshold (2405.19715, Section 3.2)
    confidence  // the product's stop rule: 1 - prod q > threshold
  };
  int length_max = 4;  // K; at most kTreeDepthMax
  Stop stop = Stop::never;
  double threshold = 1;  // h
};

struct CountedAnswer {
  std::vector<TokenId> tokens;  // [horizon]
  Passes passes;
};

// Decodes by 2405.19715, Algorithms 1 and 2: each round drafts candidates, then emits one token of
// the target's own.
CountedAnswer decode_in_rounds(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify, RandomPair& random);
// Returns how many tokens the first round emits.
int decode_one_round(const ChainPair& pair, const LengthPolicy& policy, const Verify& verify, RandomPair& random);

// Greedy decoding from `prompt`, with walk(). The first version drafts up to length_max tokens,
// fewer if policy.stop is `confidence` and the confidence of the likeliest draft is low. REQUIRES:
// policy.stop is not `exact`, which would be the oracle. The second version is the oracle of Lemma
// 2.1: it knows the disagreements and drafts up to each of them.
CountedAnswer decode_greedily(const ChainPair& pair, TokenId prompt, const LengthPolicy& policy);
CountedAnswer decode_greedily_by_oracle(const ChainPair& pair, TokenId prompt, const std::vector<int>& disagreements);

}  // namespace slipstream::theory
