#include "common/checkpoint/rope_frequencies.h"

#include <algorithm>
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

// YaRN's (2309.00071, equations 17, 18 and 23), as in transformers. Pairs before `low` turn so
// often within the original context that they stay as they are; those behind `high` are divided
// by the factor; between, a blend of both.
class Yarn {
 public:
  Yarn(const YarnScaling& scaling, const LlamaConfig& config) : factor_(scaling.factor) {
    const double last = config.head_size - 1;
    const auto pair_of = [&](float turns) {  // that turns so often within the original context
      const double wave = scaling.original_context / (double{turns} * 2 * std::numbers::pi);
      return config.head_size * std::log(wave) / (2 * std::log(double{config.rope_theta}));
    };
    const double from = pair_of(scaling.beta_fast), to = pair_of(scaling.beta_slow);
    low_ = std::max(scaling.whole_pairs ? std::floor(from) : from, 0.0);
    high_ = std::min(scaling.whole_pairs ? std::ceil(to) : to, last);
    if (low_ == high_) high_ += 0.001;
  }

  float scaled(float period, size_t pair) const {  // period: 1 / frequency
    const float ramp = static_cast<float>(static_cast<double>(pair) - low_) / static_cast<float>(high_ - low_);
    const float kept = 1.0F - std::clamp(ramp, 0.0F, 1.0F);
    return 1.0F / (factor_ * period) * (1.0F - kept) + 1.0F / period * kept;
  }

 private:
  float factor_;
  double low_ = 0, high_ = 0;  // pairs
};

}  // namespace

float rope_factor(const LlamaConfig& config) { return config.yarn ? config.yarn->attention_factor : 1.0F; }

std::vector<float> rope_frequencies(const LlamaConfig& config) {
  std::vector<float> frequencies(static_cast<size_t>(config.head_size / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.head_size);
    const float period = std::pow(config.rope_theta, exponent);
    float frequency = 1.0F / period / config.rope_divisor;
    if (config.yarn) frequency = Yarn(*config.yarn, config).scaled(period, i);
    if (config.llama3) frequency = scaled(frequency, *config.llama3);
    if (!config.rope_divisors.empty()) frequency /= config.rope_divisors[i];
    frequencies[i] = frequency;
  }
  return frequencies;
}

std::vector<float> local_rope_frequencies(const LlamaConfig& config) {
  return rope_frequencies({.head_size = config.head_size, .rope_theta = config.local_rope_theta});
}

}  // namespace slipstream
