// Log probabilities of tokens: log softmax of a row as the model gave it, before adjustments,
// temperature and filters (as OpenAI and vLLM report them). A function of the row's bits alone, so
// equal with and without drafts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/chain.h"

namespace slipstream {

inline constexpr int kTopLogprobsMax = 20;  // of a token: OpenAI's own limit

struct Logprob {
  TokenId id = 0;
  float logprob = 0;  // at most 0
  bool operator==(const Logprob&) const = default;
};

// Of one emitted token, and what else could have been.
struct TokenLogprob {
  float logprob = 0;
  std::vector<Logprob> top;  // the likeliest, falling, lowest id first among equals
  bool operator==(const TokenLogprob&) const = default;
};

// logits: [vocabulary]; token: one of them, or -1 where the row is not usable (chain.h), which
// gives nothing. top: how many. Within 1e-6 + 1e-7 |logprob| of the exact value.
TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top, ChainScratch& scratch);

}  // namespace slipstream
