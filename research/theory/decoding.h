// Answers over a chain pair, decoded by the product's own drawing (SampledTreeBuilder) and
// acceptance (accept_ratio, accept_traversal, accept_biased, walk). Only what comes between two
// rounds is written here.
#pragma once

#include <functional>

#include "common/speculation/rejection/accept_biased.h"
#include "research/theory/luck.h"
#include "research/theory/passes.h"

namespace slipstream::theory {

// The rule that judges a sampled tree. `spent` of what it gives is empty where a rule spends
// nothing.
using Judge = std::function<BiasedWalk(const DraftTree&, TargetDistributions&, RandomSource&, AcceptScratch&)>;
Judge by_ratio();
Judge by_traversal();
Judge by_bias(const Bias& bias);

struct Answer {
  std::vector<TokenId> tokens;  // [horizon]
  int rejections = 0;           // tokens that come from a residual (or another distribution) instead of a draft
  double spent = 0;             // declared total variation, of all positions together
};

// 2411.00841, Algorithms 1 and 2 (batch 1) and 4: after a rejection a batch of drafts runs on in
// parallel to the horizon, from the one whose first token is accepted the rest is judged until the
// next rejection. Drafts cost nothing there, so each position is judged against one, and no token
// comes for free. A tree of the product's ends after a few tokens; where all of a path are
// accepted, its draft goes on, alone, in the next round, which is the same thing.
struct Batch {
  int drafts = 1;  // after a rejection
  int ahead = 4;   // tokens that a round draws of each: any number gives the same distribution
};
Answer decode_to_the_horizon(const ChainPair& pair, const Batch& batch, const Judge& judge, RandomPair& random);

// When a round's candidates are enough.
struct LengthPolicy {
  enum class Stop : uint8_t {
    never,
    exact,      // SpecDec++ with a perfect head: 1 - prod min(1, p / q) > threshold (2405.19715, Section 3.2)
    confidence  // the product's stop rule: 1 - prod q > threshold
  };
  int length_max = 4;  // K, at most kTreeDepthMax
  Stop stop = Stop::never;
  double threshold = 1;  // h
};

struct CountedAnswer {
  std::vector<TokenId> tokens;  // [horizon]
  Passes passes;
};

// 2405.19715, Algorithms 1 and 2: rounds of candidates, then a token of the target's own.
CountedAnswer decode_in_rounds(const ChainPair& pair, const LengthPolicy& policy, const Judge& judge, RandomPair& random);
// How many tokens its first round emits.
int decode_one_round(const ChainPair& pair, const LengthPolicy& policy, const Judge& judge, RandomPair& random);

// Greedy decoding from this prompt, walked by walk(). The oracle of Lemma 2.1 knows the
// disagreements and drafts up to each; a policy drafts by its length, and by the likeliest draft's
// confidence where it says so (no exact: that would be the oracle).
CountedAnswer decode_greedily(const ChainPair& pair, TokenId prompt, const LengthPolicy& policy);
CountedAnswer decode_greedily_by_oracle(const ChainPair& pair, TokenId prompt, const std::vector<int>& disagreements);

}  // namespace slipstream::theory
