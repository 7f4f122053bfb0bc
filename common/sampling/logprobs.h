// Log probabilities of tokens: logprob_v = log softmax(logits)_v over a row as the model gave it,
// before penalties, temperature and filters, as OpenAI and vLLM report them. They depend on the
// bits of the row only, so speculation does not change them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/chain.h"

namespace slipstream {

inline constexpr int kTopLogprobsMax = 20;  // alternatives of one token: OpenAI's own limit

struct Logprob {
  TokenId id = 0;
  float logprob = 0;  // at most 0
  bool operator==(const Logprob&) const = default;
};

// The log probability of an emitted token, and the likeliest tokens at its position.
struct TokenLogprob {
  float logprob = 0;
  std::vector<Logprob> top;  // falling, the lowest id first on ties
  int32_t rank = 0;          // the token's place in that order over the whole vocabulary, from 1 on; 0: not told
  bool operator==(const TokenLogprob&) const = default;
};

// The log probability of `token` under logits [vocabulary], with its rank and the `top` likeliest
// tokens. Logprobs are exact to within 1e-6 + 1e-7 |logprob|, ranks are exact. Gives zeros for
// token -1 and for a refused row (chain.h).
// REQUIRES: 0 <= top <= kTopLogprobsMax.
TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top, ChainScratch& scratch);

}  // namespace slipstream
