#include "common/sampling/logprobs.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"
#include "common/sampling/fixed_weight.h"
#include "common/sampling/noise.h"
#include "common/sampling/race.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

// Finite, whatever the logits are: it goes over the wire and into JSON.
float logprob(double logit, double normaliser) {
  return static_cast<float>(std::max(logit - normaliser, static_cast<double>(std::numeric_limits<float>::lowest())));
}

}  // namespace

uint64_t total_weight(std::span<const float> logits, float highest) {
  constexpr auto loop = [](const float* row, size_t size, double most) __attribute__((always_inline)) {
    uint64_t total = 0;
    for (size_t i = 0; i < size; ++i) total += fixed_weight(static_cast<double>(row[i]) - most);
    return total;
  };
  return on_vectors<loop>(logits.data(), logits.size(), static_cast<double>(highest));
}

TokenLogprob logprob_of(std::span<const float> logits, TokenId token, int top, ChainScratch& scratch) {
  CHECK(top >= 0 && top <= kTopLogprobsMax, "{} alternatives were asked for; {} are the most", top, kTopLogprobsMax);
  const RowScan scan = scan_row(logits, 1.0F, nullptr, scratch.block_max);
  if (token < 0 || !scan.finite) return {};
  const double total = static_cast<double>(total_weight(logits, scan.highest)) / kWeightOne;
  const double normaliser = static_cast<double>(scan.highest) + natural_log(total);
  TokenLogprob found{.logprob = logprob(logits[static_cast<size_t>(token)], normaliser), .top = {}};
  if (top == 0) return found;
  Podium<kTopLogprobsMax> podium;
  enter_logits(logits, scratch.block_max, podium);
  const auto places = podium.places();
  for (const Entrant& each : places.first(std::min(places.size(), static_cast<size_t>(top)))) {
    found.top.push_back({each.token, logprob(each.key, normaliser)});
  }
  return found;
}

}  // namespace slipstream
