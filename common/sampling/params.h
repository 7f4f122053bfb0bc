// How one row of logits becomes a token. Plain data in C++20, shared by hosts, kernels and the
// wire.
#pragma once

#include <cstdint>

namespace slipstream {

// What a request asks for. The processing chain's order is in chain.h.
struct SamplingParams {
  float temperature = 1.0F;  // 0: greedy; else [kTemperatureMin, kTemperatureMax]
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0F;        // (0, 1]; 1: off
  float min_p = 0.0F;        // [0, 1); 0: off
  bool operator==(const SamplingParams&) const = default;
};

inline constexpr float kTemperatureMin = 1e-2F;  // below, dividing by it overflows sooner than it sharpens: use 0
inline constexpr float kTemperatureMax = 2.0F;   // OpenAI's own limit

// For rows whose logits the rejection rules read: greedy sampling, the cheapest, whose token is
// ignored.
inline constexpr SamplingParams kLogitsOnly{.temperature = 0.0F};

// One row's share of a Step: enough to choose its token without knowing the request.
struct RowSampling {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among the `n` choices of the request
  uint32_t position = 0;  // output position of the token that this row chooses: 0 is the first after the prompt
  SamplingParams params;
};

}  // namespace slipstream
