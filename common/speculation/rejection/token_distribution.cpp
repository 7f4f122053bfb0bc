#include "common/speculation/rejection/token_distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/check.h"

namespace slipstream {

uint64_t TokenDistribution::weight(TokenId token) const {
  const auto at = std::ranges::lower_bound(ids, token);
  return at == ids.end() || *at != token ? 0 : weights[static_cast<size_t>(at - ids.begin())];
}

TokenId TokenDistribution::at(uint64_t mark, std::span<const TokenId> without) const {
  if (unlisted != nullptr) return unlisted->at(mark, without);
  uint64_t sum = 0;
  size_t skipped = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    while (skipped < without.size() && without[skipped] < ids[i]) ++skipped;
    if (skipped < without.size() && without[skipped] == ids[i]) continue;
    if ((sum += weights[i]) > mark) return ids[i];
  }
  CHECK(false, "the weights of a distribution add up to {}, and {} is asked for", sum, mark);
  return -1;
}

void OwnedDistribution::add(TokenId id, uint64_t weight) {
  ids.push_back(id);
  weights.push_back(weight);
  total += weight;
}

void OwnedDistribution::clear() {
  ids.clear();
  weights.clear();
  total = 0;
}

// The chain's weights are p: exp_each() gives the same integers that top-p compared.
bool target_distribution(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch,
                         OwnedDistribution& distribution) {
  distribution.clear();
  const auto kept = process(logits, params, scratch);
  if (!kept) return false;
  distribution.ids.assign(kept->ids.begin(), kept->ids.end());
  distribution.weights.resize(kept->ids.size());
  distribution.total =
      scratch.kernels->exp_each(kept->scaled.data(), std::ssize(kept->scaled), kept->highest, distribution.weights.data());
  return true;
}

// Keeps the likeliest tokens, scales their weights to kDraftDistributionTotal rounding down (but to
// at least 1), and gives the likeliest token the difference.
void quantise(const TokenDistribution& distribution, size_t most, OwnedDistribution& out) {
  CHECK(!distribution.empty() && most > 0 && most <= kDraftDistributionTotal, "nothing to quantise: {} tokens, {} wanted",
        distribution.ids.size(), most);
  std::vector<size_t> order(distribution.ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto likelier = [&](size_t a, size_t b) {
    return distribution.weights[a] != distribution.weights[b] ? distribution.weights[a] > distribution.weights[b] : a < b;
  };
  const size_t kept = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), likelier);
  order.resize(kept);
  while (distribution.weights[order.back()] == 0) order.pop_back();
  const size_t likeliest = order.front();
  uint64_t mass = 0;
  for (const size_t at : order) mass += distribution.weights[at];
  std::ranges::sort(order);
  out.clear();
  size_t first = 0;
  for (const size_t at : order) {
    const auto share =
        static_cast<uint64_t>(static_cast<unsigned __int128>(distribution.weights[at]) * kDraftDistributionTotal / mass);
    if (at == likeliest) first = out.ids.size();
    out.add(distribution.ids[at], std::max<uint64_t>(1, share));
  }
  // Rounding down leaves a few for the likeliest; rounding up to 1 takes from it. Its share is at
  // least kDraftDistributionTotal / 64.
  out.weights[first] += kDraftDistributionTotal - out.total;
  out.total = kDraftDistributionTotal;
}

bool draft_distribution(std::span<const float> logits, SamplingParams params, ChainScratch& scratch,
                        OwnedDistribution& distribution) {
  // The chain's own top-k is quicker than a sort, and q may be any distribution.
  params.top_k = params.top_k > 0 ? std::min<int32_t>(params.top_k, kDraftDistributionTokensMax) : kDraftDistributionTokensMax;
  OwnedDistribution kept;
  if (!target_distribution(logits, params, scratch, kept)) {
    distribution.clear();
    return false;
  }
  quantise(kept.view(), kDraftDistributionTokensMax, distribution);
  return true;
}

double entropy(const TokenDistribution& distribution) {
  double sum = 0;
  for (const uint64_t weight : distribution.weights) {
    const double p = static_cast<double>(weight) / static_cast<double>(distribution.total);
    if (p > 0) sum -= p * std::log(p);
  }
  return sum;
}

// Loops over q's support only; outside it q is 0, and |p - q| adds up to p's mass there.
double total_variation(const TokenDistribution& p, const TokenDistribution& q) {
  double apart = 0, shared = 0;
  for (size_t i = 0; i < q.ids.size(); ++i) {
    const double there = p.probability(q.ids[i]);
    apart += std::abs(there - static_cast<double>(q.weights[i]) / static_cast<double>(q.total));
    shared += there;
  }
  return (apart + std::max(0.0, 1 - shared)) / 2;
}

}  // namespace slipstream
