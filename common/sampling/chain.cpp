#include "common/sampling/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/sampling/fixed_weight.h"
#include "common/sampling/noise.h"
#include "common/sampling/vector_path.h"

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr float kBucketsPerNat = 16.0F;
constexpr int kBlock = kScanBlock;

// Where the kept tokens end in the order (scaled, then lowest id): the last one kept.
struct Cut {
  float scaled = kMasked;
  TokenId id = -1;
  [[gnu::always_inline]] bool keeps(float s, TokenId token) const { return (s > scaled) | ((s == scaled) & (token <= id)); }
};

struct Row {
  const float* logits;
  int size;
  float scale;
  float max;
};

// Falls as the scaled logit grows (subtraction and product round monotonically), so buckets follow the order of tokens.
[[gnu::always_inline]] inline int bucket_of(float scaled, float max) {
  const float distance = (max - scaled) * kBucketsPerNat;
  constexpr auto kLast = static_cast<float>(ChainScratch::kBuckets - 1);
  return static_cast<int>(distance < kLast ? distance : kLast);
}

struct ByCount {
  [[gnu::always_inline]] static uint64_t mass(float scaled, float) { return scaled > kMasked; }
};
struct ByProbability {
  [[gnu::always_inline]] static uint64_t mass(float scaled, float max) {
    return fixed_weight(static_cast<double>(scaled) - static_cast<double>(max));
  }
};

// Sums the mass of what `cut` keeps, by bucket. Returns the total.
template <class By>
uint64_t histogram(const Row& row, const Cut& cut, uint64_t* buckets) {
  constexpr auto loop = [](Row of, Cut within, uint64_t* sums) __attribute__((always_inline)) {
    uint64_t total = 0;
    for (int start = 0; start < of.size; start += kBlock) {
      float padded[kBlock];
      const float* logits = of.logits + start;
      if (of.size - start < kBlock) {
        std::fill_n(padded, kBlock, kMasked);
        std::copy(logits, of.logits + of.size, padded);
        logits = padded;
      }
      uint64_t mass[kBlock];
      int32_t bucket[kBlock];
      for (int i = 0; i < kBlock; ++i) {
        const float scaled = logits[i] * of.scale;
        bucket[i] = bucket_of(scaled, of.max);
        mass[i] = By::mass(scaled, of.max) & -static_cast<uint64_t>(within.keeps(scaled, start + i));
      }
      for (int i = 0; i < kBlock; ++i) total += mass[i];
      for (int i = 0; i < kBlock; ++i) sums[bucket[i]] += mass[i];
    }
    return total;
  };
  std::fill_n(buckets, ChainScratch::kBuckets, 0);
  return on_vectors<loop>(row, cut, buckets);
}

// The kept tokens of one bucket, in order.
void list_bucket(const Row& row, const Cut& cut, int bucket, ChainScratch& scratch) {
  scratch.boundary.clear();
  for (int start = 0, block = 0; start < row.size; start += kBlock, ++block) {
    if (bucket_of(scratch.block_max[block], row.max) > bucket) continue;
    for (int token = start; token < std::min(start + kBlock, row.size); ++token) {
      const float scaled = row.logits[token] * row.scale;
      if (bucket_of(scaled, row.max) == bucket && cut.keeps(scaled, token)) scratch.boundary.push_back({scaled, token});
    }
  }
  std::ranges::sort(scratch.boundary, [](const ChainScratch::Candidate& a, const ChainScratch::Candidate& b) {
    return a.scaled != b.scaled ? a.scaled > b.scaled : a.id < b.id;
  });
}

// The shortest beginning, in the order, of what `cut` keeps whose mass is at least need(total).
template <class By, class Need>
Cut narrow(const Row& row, const Cut& cut, ChainScratch& scratch, Need need) {
  const uint64_t total = histogram<By>(row, cut, scratch.mass.data());
  const uint64_t needed = need(total);
  if (needed >= total) return cut;
  uint64_t sum = 0;
  int bucket = 0;
  while (sum + scratch.mass[bucket] < needed) sum += scratch.mass[bucket++];
  list_bucket(row, cut, bucket, scratch);
  auto last = scratch.boundary.begin();
  while ((sum += By::mass(last->scaled, row.max)) < needed) ++last;
  return {last->scaled, last->id};
}

uint64_t share_of(float p, uint64_t total) {
  const double exact = static_cast<double>(p) * static_cast<double>(total);
  const auto below = static_cast<uint64_t>(exact);
  return std::max<uint64_t>(1, below + (static_cast<double>(below) < exact));
}

Kept collect(const Row& row, const Cut& cut, float min_p, ChainScratch& scratch) {
  const double floor = min_p > 0 ? natural_log(min_p) : -std::numeric_limits<double>::infinity();
  scratch.ids.resize(row.size);
  scratch.scaled.resize(row.size);
  size_t kept = 0;
  for (int start = 0, block = 0; start < row.size; start += kBlock, ++block) {
    const float highest = scratch.block_max[block];
    if (highest < cut.scaled || static_cast<double>(highest) - static_cast<double>(row.max) < floor) continue;
    for (int token = start; token < std::min(start + kBlock, row.size); ++token) {
      const float scaled = row.logits[token] * row.scale;
      scratch.ids[kept] = token;
      scratch.scaled[kept] = scaled;
      kept += cut.keeps(scaled, token) & (static_cast<double>(scaled) - static_cast<double>(row.max) >= floor);
    }
  }
  return {{scratch.ids.data(), kept}, {scratch.scaled.data(), kept}};
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

TokenId argmax(std::span<const float> logits, ChainScratch& scratch) {
  const RowScan scan = scan_row(logits, 1.0F, nullptr, scratch.block_max);
  if (!scan.finite) return -1;
  const auto block = std::ranges::find(scratch.block_max, scan.highest) - scratch.block_max.begin();
  return static_cast<TokenId>(std::find(logits.begin() + block * kBlock, logits.end(), scan.highest) - logits.begin());
}

Kept filter(std::span<const float> logits, const SamplingParams& params, const RowScan& scan, ChainScratch& scratch) {
  const Row row{logits.data(), static_cast<int>(logits.size()), scale_of(params.temperature), scan.highest};
  Cut cut;
  if (params.top_k > 0) {
    cut = narrow<ByCount>(row, cut, scratch, [&](uint64_t) { return static_cast<uint64_t>(params.top_k); });
  }
  if (params.top_p < 1) {
    cut = narrow<ByProbability>(row, cut, scratch, [&](uint64_t total) { return share_of(params.top_p, total); });
  }
  return collect(row, cut, params.min_p, scratch);
}

std::optional<Kept> process(std::span<const float> logits, const SamplingParams& params, ChainScratch& scratch) {
  if (params.temperature == 0) {
    const TokenId best = argmax(logits, scratch);
    if (best < 0) return std::nullopt;
    scratch.ids.assign(1, best);
    scratch.scaled.assign(1, logits[best]);
    return Kept{scratch.ids, scratch.scaled};
  }
  const RowScan scan = scan_row(logits, scale_of(params.temperature), nullptr, scratch.block_max);
  if (!scan.finite) return std::nullopt;
  return filter(logits, params, scan, scratch);
}

}  // namespace slipstream
