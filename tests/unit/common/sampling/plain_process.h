// The adjustments as common/sampling/logits_processor.h states them, token by token and without any
// memory: what the fast ones are held to.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/sampling/logits_params.h"

namespace slipstream::plain {

inline bool ends_with(const std::vector<TokenId>& text, std::span<const TokenId> end) {
  return end.size() <= text.size() && std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()));
}

// output: what was emitted, and the row's path behind it.
inline std::vector<float> processed(std::vector<float> logits, const LogitsParams& how, const std::vector<TokenId>& prompt,
                                    const std::vector<TokenId>& output) {
  for (size_t v = 0; v < logits.size(); ++v) {
    const auto id = static_cast<TokenId>(v);
    const auto times = std::ranges::count(output, id);
    double logit = logits[v];
    if (times > 0 || std::ranges::count(prompt, id) > 0) {
      logit = logit > 0 ? logit / how.repetition_penalty : logit * how.repetition_penalty;
    }
    if (times > 0) logit -= how.frequency_penalty * static_cast<double>(times) + how.presence_penalty;
    logits[v] = static_cast<float>(logit);
    for (const LogitBias& each : how.bias) {
      if (each.id == id) logits[v] += each.bias;
    }

    bool masked = !how.allowed.empty() && std::ranges::count(how.allowed, id) == 0;
    masked |= output.size() < static_cast<size_t>(how.min_tokens) && std::ranges::count(how.stop_ids, id) > 0;
    for (const auto& word : how.bad_words) masked |= word.back() == id && ends_with(output, {word.data(), word.size() - 1});
    if (masked && logits[v] < INFINITY) logits[v] = -INFINITY;
  }
  return logits;
}

}  // namespace slipstream::plain
