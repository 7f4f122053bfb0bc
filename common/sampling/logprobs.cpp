#include "common/sampling/logprobs.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"
#include "common/sampling/gumbel_top_k.h"
#include "kernels/exact/exp_fixed.h"
#include "kernels/exact/noise.h"

namespace slipstream {
namespace {

// logit - normaliser, but never -inf: JSON has no infinity.
float logprob(double logit, double normaliser) {
  return static_cast<float>(std::max(logit - normaliser, static_cast<double>(std::numeric_limits<float>::lowest())));
}

// Tokens that come before `token` in the order of falling logits, the lowest id first on ties.
int32_t before(std::span<const float> logits, size_t token) {
  const float own = logits[token];
  int32_t count = 0;
  for (const float logit : logits.first(token)) count += logit >= own ? 1 : 0;
  for (const float logit : logits.subspan(token)) count += logit > own ? 1 : 0;
  return count;
}

}  // namespace

// The sum of exponentials is an integer (kernels/exact/exp_fixed.h), so logprobs do not depend on
// the instruction path.
TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top, ChainScratch& scratch) {
  CHECK(top >= 0 && top <= kTopLogprobsMax, "{} alternatives were asked for; {} are the most", top, kTopLogprobsMax);
  const RowScan scan = scan_row(*scratch.kernels, logits, 1.0F, nullptr, scratch.block_max);
  if (token < 0 || !scan.finite) return {};
  // logsumexp with the highest logit taken out, so that nothing overflows.
  const uint64_t total = scratch.kernels->exp_sum(logits.data(), std::ssize(logits), 1.0F, scan.highest);
  const double normaliser = static_cast<double>(scan.highest) + natural_log(static_cast<double>(total) / kExpFixedOne);
  const auto place = static_cast<size_t>(token);
  TokenLogprob found{.logprob = logprob(logits[place], normaliser), .top = {}, .rank = before(logits, place) + 1};
  if (top == 0) return found;
  TopK<kTopLogprobsMax> highest;
  add_logits(whole_row(logits), scratch.block_max, highest);
  const auto candidates = highest.candidates();
  for (const Candidate& each : candidates.first(std::min(candidates.size(), static_cast<size_t>(top)))) {
    found.top.push_back({each.token, logprob(each.key, normaliser)});
  }
  return found;
}

}  // namespace slipstream
