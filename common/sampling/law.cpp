#include "common/sampling/law.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/check.h"

namespace slipstream {

uint64_t Law::weight(TokenId token) const {
  const auto at = std::ranges::lower_bound(ids, token);
  return at == ids.end() || *at != token ? 0 : weights[static_cast<size_t>(at - ids.begin())];
}

void OwnLaw::add(TokenId id, uint64_t weight) {
  ids.push_back(id);
  weights.push_back(weight);
  total += weight;
}

void OwnLaw::clear() {
  ids.clear();
  weights.clear();
  total = 0;
}

bool target_law(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch, OwnLaw& law) {
  law.clear();
  const auto kept = process(logits, params, scratch);
  if (!kept) return false;
  law.ids.assign(kept->ids.begin(), kept->ids.end());
  law.weights.resize(kept->ids.size());
  law.total = scratch.kernels->exp_each(kept->scaled.data(), std::ssize(kept->scaled), kept->highest, law.weights.data());
  return true;
}

void quantise(const Law& law, size_t most, OwnLaw& out) {
  CHECK(!law.empty() && most > 0 && most <= kDraftLawTotal, "nothing to quantise: {} tokens, {} wanted", law.ids.size(), most);
  std::vector<size_t> order(law.ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto likelier = [&](size_t a, size_t b) {
    return law.weights[a] != law.weights[b] ? law.weights[a] > law.weights[b] : a < b;
  };
  const size_t kept = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(kept), likelier);
  order.resize(kept);
  while (law.weights[order.back()] == 0) order.pop_back();
  const size_t likeliest = order.front();
  uint64_t mass = 0;
  for (const size_t at : order) mass += law.weights[at];
  std::ranges::sort(order);
  out.clear();
  size_t first = 0;
  for (const size_t at : order) {
    const auto share = static_cast<uint64_t>(static_cast<unsigned __int128>(law.weights[at]) * kDraftLawTotal / mass);
    if (at == likeliest) first = out.ids.size();
    out.add(law.ids[at], std::max<uint64_t>(1, share));
  }
  // Rounding down leaves a few for the likeliest; rounding up to 1 takes from it. Its share is at least kDraftLawTotal / 64.
  out.weights[first] += kDraftLawTotal - out.total;
  out.total = kDraftLawTotal;
}

bool draft_law(std::span<const float> logits, SamplingParams params, ChainScratch& scratch, OwnLaw& law) {
  // The chain's own top-k is quicker than a sort, and q may be any law.
  params.top_k = params.top_k > 0 ? std::min<int32_t>(params.top_k, kDraftLawTokensMax) : kDraftLawTokensMax;
  OwnLaw kept;
  if (!target_law(logits, params, scratch, kept)) {
    law.clear();
    return false;
  }
  quantise(kept.view(), kDraftLawTokensMax, law);
  return true;
}

double entropy(const Law& law) {
  double sum = 0;
  for (const uint64_t weight : law.weights) {
    const double p = static_cast<double>(weight) / static_cast<double>(law.total);
    if (p > 0) sum -= p * std::log(p);
  }
  return sum;
}

double total_variation(const Law& p, const Law& q) {
  double apart = 0, shared = 0;
  for (size_t i = 0; i < q.ids.size(); ++i) {
    const double there = p.probability(q.ids[i]);
    apart += std::abs(there - static_cast<double>(q.weights[i]) / static_cast<double>(q.total));
    shared += there;
  }
  return (apart + std::max(0.0, 1 - shared)) / 2;
}

}  // namespace slipstream
