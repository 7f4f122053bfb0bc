#include "common/checkpoint/rope_frequencies.h"

#include <cmath>
#include <numbers>

namespace slipstream {
namespace {

// Llama 3.1's scaling, as in its reference. By the wave length w = 2 pi / frequency, in positions:
//
//   w < original_context / high_freq_factor    unchanged
//   w > original_context / low_freq_factor     divided by factor
//   between                                    a blend of both, linear in original_context / w
float scaled(float frequency, const Llama3Scaling& scaling) {
  const auto original = static_cast<float>(scaling.original_context);
  const float wave = 2.0F * std::numbers::pi_v<float> / frequency;
  if (wave < original / scaling.high_freq_factor) return frequency;
  if (wave > original / scaling.low_freq_factor) return frequency / scaling.factor;
  const float blend = (original / wave - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0F - blend) * frequency / scaling.factor + blend * frequency;
}

}  // namespace

std::vector<float> rope_frequencies(const LlamaConfig& config) {
  std::vector<float> frequencies(static_cast<size_t>(config.head_size / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.head_size);
    float frequency = 1.0F / std::pow(config.rope_theta, exponent);
    if (config.llama3) frequency = scaled(frequency, *config.llama3);
    if (!config.rope_divisors.empty()) frequency /= config.rope_divisors[i];
    frequencies[i] = frequency;
  }
  return frequencies;
}

}  // namespace slipstream
