#include "common/sampling/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/exact/noise.h"

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
// Buckets divide the distance from the highest scaled logit. Their width is 1/16 of an unscaled
// logit below temperature 1 (a cold row spreads over as many buckets) and 1/16 nat above.
constexpr float kBucketsPerLogit = 16.0F;

// The last token that a filter keeps, in the order (s_v falling, then id rising). The default keeps
// all.
struct Cut {
  float scaled = kMasked;
  TokenId id = -1;
  [[gnu::always_inline]] bool keeps(float s, TokenId token) const { return (s > scaled) | ((s == scaled) & (token <= id)); }
};

struct Row {
  std::span<const float> logits;
  float scale;
  float max;  // the highest scaled logit
  float buckets_per_nat = kBucketsPerLogit / std::max(scale, 1.0F);
};

// The bucket of a scaled logit, 0 for the highest. Subtraction and product round monotonically, so
// a token in a lower bucket always comes first in the order: only the boundary bucket must be
// sorted.
[[gnu::always_inline]] inline int bucket_of(float scaled, const Row& row) {
  const float distance = (row.max - scaled) * row.buckets_per_nat;
  constexpr auto kLast = static_cast<float>(ChainScratch::kBuckets - 1);
  return static_cast<int>(distance < kLast ? distance : kLast);
}

// Lists the tokens that are not masked and whose scaled logit is at least `floor`.
void list(const Row& row, float floor, ChainScratch& scratch) {
  if (const size_t room = row.logits.size() + static_cast<size_t>(kListRoom); scratch.ids.size() < room) {
    scratch.ids.resize(room);
    scratch.scaled.resize(room);
    scratch.weights.resize(room);
  }
  scratch.listed = static_cast<size_t>(scratch.kernels->list({.logits = row.logits.data(),
                                                              .vocabulary = std::ssize(row.logits),
                                                              .scale = row.scale,
                                                              .floor = floor,
                                                              .block_max = scratch.block_max.data(),
                                                              .ids = scratch.ids.data(),
                                                              .scaled = scratch.scaled.data()}));
}

// Removes the listed tokens that do not pass. Without a branch: whether a token passes cannot be
// predicted.
template <class Passes>
void sift(ChainScratch& scratch, Passes passes) {
  size_t stay = 0;
  for (size_t i = 0; i < scratch.listed; ++i) {
    const TokenId id = scratch.ids[i];
    const float scaled = scratch.scaled[i];
    scratch.ids[stay] = id;
    scratch.scaled[stay] = scaled;
    stay += passes(scaled, id);
  }
  scratch.listed = stay;
}

// mass[b] := the weight of the listed tokens in bucket b.
void sum_buckets(const Row& row, ChainScratch& scratch) {
  scratch.mass.fill(0);
  for (size_t i = 0; i < scratch.listed; ++i) scratch.mass[bucket_of(scratch.scaled[i], row)] += scratch.weights[i];
}

// The end of the shortest prefix of the listed tokens, in their order, that weighs at least
// `needed`, and what that prefix weighs. It skips whole buckets and sorts only the one in which the
// prefix ends. REQUIRES (unchecked): sum_buckets() was called; the listed tokens weigh at least
// `needed`.
struct End {
  Cut cut;
  uint64_t weight = 0;
};
End end_at(uint64_t needed, const Row& row, ChainScratch& scratch) {
  uint64_t sum = 0;
  int bucket = 0;
  while (sum + scratch.mass[bucket] < needed) sum += scratch.mass[bucket++];
  scratch.boundary.clear();
  for (size_t i = 0; i < scratch.listed; ++i) {
    if (bucket_of(scratch.scaled[i], row) != bucket) continue;
    scratch.boundary.push_back({scratch.scaled[i], scratch.ids[i], scratch.weights[i]});
  }
  std::ranges::sort(scratch.boundary, [](const ChainScratch::Candidate& a, const ChainScratch::Candidate& b) {
    return a.scaled != b.scaled ? a.scaled > b.scaled : a.id < b.id;
  });
  auto last = scratch.boundary.begin();
  while ((sum += last->weight) < needed) ++last;
  return {{last->scaled, last->id}, sum};
}

// A scaled logit that at least k tokens reach, because at least k blocks have a maximum that high.
// It takes the minimum of the block maxima in the first buckets that hold k of them. Tokens below
// it cannot be among the k highest, so they need not be listed.
float floor_of(size_t k, const Row& row, ChainScratch& scratch) {
  if (k > scratch.block_max.size()) return kMasked;
  scratch.mass.fill(0);
  for (const float highest : scratch.block_max) ++scratch.mass[bucket_of(highest, row)];
  uint64_t blocks = 0;
  int bucket = 0;
  while ((blocks += scratch.mass[bucket]) < k) ++bucket;
  float floor = row.max;
  for (const float highest : scratch.block_max) {
    if (bucket_of(highest, row) <= bucket) floor = std::min(floor, highest);
  }
  return floor;
}

// Lists the tokens that may be among the k highest, and finds the k-th: with a weight of 1 each,
// the shortest prefix that weighs k ends there.
Cut top_k(const Row& row, size_t k, ChainScratch& scratch) {
  list(row, floor_of(k, row, scratch), scratch);
  if (scratch.listed <= k) return {};
  std::fill_n(scratch.weights.begin(), scratch.listed, 1);
  sum_buckets(row, scratch);
  return end_at(k, row, scratch).cut;
}

// max(1, ceil(p * total)): the weight that top-p must keep (docs/design/NOISE.md, section 6).
uint64_t share_of(float p, uint64_t total) {
  const double exact = static_cast<double>(p) * static_cast<double>(total);
  const auto below = static_cast<uint64_t>(exact);
  return std::max<uint64_t>(1, below + (static_cast<double>(below) < exact));
}

// Computes the weights of the listed tokens and their buckets. Returns the total.
uint64_t weigh_listed(const Row& row, ChainScratch& scratch) {
  const uint64_t total =
      scratch.kernels->exp_each(scratch.scaled.data(), static_cast<int64_t>(scratch.listed), row.max, scratch.weights.data());
  sum_buckets(row, scratch);
  return total;
}

// How far below the highest logit top-p lists tokens, in nats. It tries the smallest first: fewer
// tokens to list and weigh.
constexpr float kReaches[] = {9.0F, 11.0F, 14.0F};

// With more than 1/kFewShare of the row listed, each token weighs so little that the bounds of the
// total are rarely tight enough to decide where p ends.
constexpr size_t kFewShare = 8;

// Exact weights of a whole row are expensive, and p needs the total. So:
//
//   1. exp_sum_bounds() gives least <= total <= most, cheaply.
//   2. List the tokens near the highest until they weigh share_of(p, most), so that they hold the end of p for any total.
//   3. Compute the end for `least`. If that prefix weighs share_of(p, most) as well, the end is the same for every total
//      within the bounds: done.
//   4. Otherwise compute the exact total, and the end for it.
Cut top_p(const Row& row, float p, ChainScratch& scratch) {
  const float* logits = row.logits.data();
  const auto vocabulary = std::ssize(row.logits);
  const ExpSumBounds all = scratch.kernels->exp_sum_bounds(logits, vocabulary, row.scale, row.max);
  const uint64_t most = share_of(p, all.most);
  const auto reach = std::ranges::find_if(kReaches, [&](float nats) {
    list(row, row.max - nats, scratch);
    return weigh_listed(row, scratch) >= most;
  });
  if (reach == std::ranges::end(kReaches)) {
    list(row, kMasked, scratch);
    weigh_listed(row, scratch);
  }
  if (scratch.listed < row.logits.size() / kFewShare) {
    const End end = end_at(share_of(p, all.least), row, scratch);
    if (end.weight >= most) return end.cut;
  }
  return end_at(share_of(p, scratch.kernels->exp_sum(logits, vocabulary, row.scale, row.max)), row, scratch).cut;
}

// Runs the filters of the chain, of which at least one is on. REQUIRES (unchecked): scan_row() has
// scanned the row without levels into scratch.block_max.
Kept filter(std::span<const float> logits, const SamplingParams& params, const RowScan& scan, ChainScratch& scratch) {
  const Row row{logits, scale_of(params.temperature), scan.highest};
  Cut cut;
  if (params.top_k > 0) {
    cut = top_k(row, static_cast<size_t>(params.top_k), scratch);
    sift(scratch, [&](float scaled, TokenId token) { return cut.keeps(scaled, token); });
  }
  if (params.top_p < 1) {
    cut = params.top_k > 0 ? end_at(share_of(params.top_p, weigh_listed(row, scratch)), row, scratch).cut
                           : top_p(row, params.top_p, scratch);
    sift(scratch, [&](float scaled, TokenId token) { return cut.keeps(scaled, token); });
  }
  // min-p compares logits: p_v >= min_p p_max is s_v - s_max >= log(min_p).
  const double floor = params.min_p > 0 ? natural_log(params.min_p) : -std::numeric_limits<double>::infinity();
  const auto reaches = [&](float scaled) { return static_cast<double>(scaled) - static_cast<double>(row.max) >= floor; };
  if (params.top_k == 0 && params.top_p == 1) {
    // No filter has listed tokens yet. The float may be rounded up, so list from the next lower one
    // on; the exact comparison follows.
    const auto about = static_cast<float>(static_cast<double>(row.max) + floor);
    list(row, std::nextafter(about, kMasked), scratch);
  }
  if (params.min_p > 0) sift(scratch, [&](float scaled, TokenId) { return reaches(scaled); });
  return {std::span(scratch.ids).first(scratch.listed), std::span(scratch.scaled).first(scratch.listed), row.max};
}

}  // namespace

Result<void> validate(const SamplingParams& params) {
  const float t = params.temperature;
  if (t != 0 && !(t >= kTemperatureMin && t <= kTemperatureMax)) {
    return fail("temperature is {}: give 0 (greedy) or a number from {} to {}", t, kTemperatureMin, kTemperatureMax);
  }
  if (params.top_k < 0) return fail("top_k is {}: give 0 (off) or a positive number of tokens", params.top_k);
  if (!(params.top_p > 0 && params.top_p <= 1)) {
    return fail("top_p is {}: give a number above 0 and at most 1 (off)", params.top_p);
  }
  if (!(params.min_p >= 0 && params.min_p < 1)) {
    return fail("min_p is {}: give a number from 0 (off) to below 1", params.min_p);
  }
  return {};
}

// One pass over the row, which finds out whether it is usable, its maximum, and the bounds by which
// later passes skip blocks.
RowScan scan_row(const VocabularyKernels& kernels, std::span<const float> logits, float scale, const uint8_t* levels,
                 std::vector<float>& bounds) {
  bounds.resize(static_cast<size_t>(scan_blocks(std::ssize(logits))));
  return kernels.scan(logits.data(), std::ssize(logits), scale, levels, bounds.data());
}

// The scan has the maximum of each block, so only the first block that has the highest is searched.
TokenId argmax(std::span<const float> logits, ChainScratch& scratch) {
  const RowScan scan = scan_row(*scratch.kernels, logits, 1.0F, nullptr, scratch.block_max);
  if (!scan.finite) return -1;
  const auto block = std::ranges::find(scratch.block_max, scan.highest) - scratch.block_max.begin();
  return static_cast<TokenId>(std::find(logits.begin() + block * kScanBlock, logits.end(), scan.highest) - logits.begin());
}

std::optional<Kept> process(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch) {
  if (params.temperature == 0) {
    const TokenId best = argmax(logits, scratch);
    if (best < 0) return std::nullopt;
    list({logits, 1.0F, logits[best]}, logits[best], scratch);
    return Kept{std::span(scratch.ids).first(1), std::span(scratch.scaled).first(1), logits[best]};
  }
  const RowScan scan = scan_row(*scratch.kernels, logits, scale_of(params.temperature), nullptr, scratch.block_max);
  if (!scan.finite) return std::nullopt;
  return filter(logits, params, scan, scratch);
}

}  // namespace slipstream
