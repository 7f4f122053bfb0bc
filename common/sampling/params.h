// The sampling parameters of a request and of one row of logits. Plain data in C++20, shared by
// hosts, kernels and the wire.
#pragma once

#include <cstdint>

namespace slipstream {

// A request's parameters. chain.h says in which order they apply.
struct SamplingParams {
  float temperature = 1.0F;  // 0: greedy; otherwise in [kTemperatureMin, kTemperatureMax]
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0F;        // (0, 1]; 1: off
  float min_p = 0.0F;        // [0, 1); 0: off
  bool operator==(const SamplingParams&) const = default;
};

inline constexpr float kTemperatureMin = 1e-2F;  // smaller ones overflow logits before they sharpen further: use 0
inline constexpr float kTemperatureMax = 2.0F;   // OpenAI's own limit

// For rows whose logits the rejection rules read: greedy sampling, the cheapest, whose token is
// ignored.
inline constexpr SamplingParams kLogitsOnly{.temperature = 0.0F};

// Everything that is needed to sample one row's token without knowing its request.
struct RowSampling {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among the `n` choices of the request
  uint32_t position = 0;  // output position of the token that is sampled: 0 is the first after the prompt
  SamplingParams params;
};

}  // namespace slipstream
