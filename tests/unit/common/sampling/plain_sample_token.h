// The chain and the choice as their headers state them, with sorts and loops and no bound: what the
// fast ones are held to.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "common/sampling/params.h"
#include "kernels/exact/exp_fixed.h"
#include "kernels/exact/noise.h"

namespace slipstream::plain {

// Token ids, ascending; empty when the row is unusable. Temperature above 0.
inline std::vector<int32_t> kept(std::span<const float> logits, const SamplingParams& params) {
  std::vector<float> scaled(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) scaled[i] = logits[i] * (1.0F / params.temperature);
  for (float s : scaled) {
    if (std::isnan(s) || s == INFINITY) return {};
  }
  std::vector<int32_t> order;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (scaled[i] > -INFINITY) order.push_back(static_cast<int32_t>(i));
  }
  if (order.empty()) return {};
  std::ranges::stable_sort(order, [&](int a, int b) { return scaled[a] > scaled[b]; });
  if (params.top_k > 0 && order.size() > static_cast<size_t>(params.top_k)) order.resize(params.top_k);
  const double max = scaled[order[0]];
  if (params.top_p < 1) {
    uint64_t total = 0, sum = 0;
    for (int id : order) total += exp_fixed(scaled[id] - max);
    size_t size = 0;
    while (static_cast<double>(sum) < static_cast<double>(params.top_p) * static_cast<double>(total)) {
      sum += exp_fixed(scaled[order[size++]] - max);
    }
    order.resize(std::max<size_t>(size, 1));
  }
  if (params.min_p > 0) {
    std::erase_if(order, [&](int id) { return scaled[id] - max < natural_log(params.min_p); });
  }
  std::ranges::sort(order);
  return order;
}

inline int32_t sample_token(std::span<const float> logits, const RowSampling& row) {
  const NoiseKey key{row.seed, row.choice, row.position, NoisePurpose::coupled};
  int32_t winner = -1;
  double best = -INFINITY;
  for (int32_t id : kept(logits, row.params)) {
    const float scaled = logits[id] * (1.0F / row.params.temperature);
    const double with_noise = static_cast<double>(scaled) + gumbel(key, static_cast<uint32_t>(id));
    if (with_noise > best) best = with_noise, winner = id;
  }
  return winner;
}

}  // namespace slipstream::plain
