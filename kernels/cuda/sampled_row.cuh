// One row of logits under its rule: which tokens the chain keeps (docs/design/NOISE.md, section 6).
// All threads of a block call these functions together.
#pragma once

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/sample.h"
#include "kernels/exact/exp_fixed.h"
#include "kernels/exact/noise.h"

namespace slipstream::cuda {

using Sum = unsigned long long;  // what atomicAdd takes

inline constexpr int kDigits = 256;
inline constexpr float kLargest = 3.402823466e38F;

struct RowShared {
  float floats[kWarp];
  Sum sums[kWarp];
  Sum histogram[kDigits];
  Sum needed;     // of the weight below the digits that are decided
  uint64_t key;   // the digits that are decided
  bool complete;  // all tokens with those digits are kept
};

// A row, and which of its tokens are kept: those whose order_key is at least `cut`, and whose
// distance from the highest is at least `floor`.
struct SampledRow {
  const float* logits;
  int32_t vocabulary;
  float scale, highest;
  uint64_t cut;
  double floor;

  __device__ float scaled(int32_t token) const { return logits[token] * scale; }
};

// Tokens by scaled logit falling, then by id rising: the larger key comes first. Adding zero makes
// -0 equal to 0, as it is for a comparison.
__device__ inline uint64_t order_key(float scaled, int32_t token) {
  const auto bits = std::bit_cast<uint32_t>(scaled + 0.0F);
  const uint32_t rising = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{rising} << 32 | (0xFFFFFFFFu - static_cast<uint32_t>(token));
}

__device__ inline bool keeps(const SampledRow& row, float scaled, int32_t token) {
  if (!(scaled > -INFINITY) || order_key(scaled, token) < row.cut) return false;
  return static_cast<double>(scaled) - static_cast<double>(row.highest) >= row.floor;
}

// Of a kept token: its probability times 2^44, before it is divided by the sum of all.
__device__ inline Sum weight_of(const SampledRow& row, float scaled) {
  return exp_fixed(static_cast<double>(scaled) - static_cast<double>(row.highest));
}

template <class Visit>
__device__ void each_token(const SampledRow& row, const Visit& visit) {
  for (auto token = static_cast<int32_t>(threadIdx.x); token < row.vocabulary; token += static_cast<int32_t>(blockDim.x)) {
    const float scaled = row.scaled(token);
    if (keeps(row, scaled, token)) visit(scaled, token);
  }
}

__device__ inline Sum added(Sum own, RowShared& shared) {
  return over_block(own, shared.sums, [](Sum a, Sum b) { return a + b; });
}

// Finds the highest scaled logit. False: the row is refused.
__device__ inline bool scan(SampledRow& row, RowShared& shared) {
  Sum unusable = 0;
  float highest = -INFINITY;
  for (auto token = static_cast<int32_t>(threadIdx.x); token < row.vocabulary; token += static_cast<int32_t>(blockDim.x)) {
    const float scaled = row.scaled(token);
    unusable += !(scaled <= kLargest);
    highest = highest < scaled ? scaled : highest;
  }
  row.highest = over_block(highest, shared.floats, [](float a, float b) { return a < b ? b : a; });
  return added(unusable, shared) == 0 && row.highest > -INFINITY;
}

// Walks one digit's histogram from the top to where `needed` is reached. Called by one thread.
__device__ inline void decide_digit(RowShared& shared, int shift) {
  Sum above = 0;
  int digit = kDigits - 1;
  while (digit > 0 && above + shared.histogram[digit] < shared.needed) above += shared.histogram[digit--];
  shared.needed -= above;
  shared.key |= uint64_t(digit) << shift;
  shared.complete = shared.histogram[digit] == shared.needed;
}

// Cuts the row behind the shortest prefix of its kept tokens, in their order, that weighs at least
// `needed`: a radix select from the highest digit of order_key down. REQUIRES: needed > 0, and they
// weigh that much. Digits of the id only matter where tokens of one scaled logit are cut apart;
// these have one weight, so the walk may end where all of them are kept.
template <class Weight>
__device__ void cut_behind(Sum needed, SampledRow& row, RowShared& shared, const Weight& weight) {
  constexpr int kIdBits = 32;
  if (threadIdx.x == 0) shared.needed = needed, shared.key = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    for (auto digit = threadIdx.x; digit < kDigits; digit += blockDim.x) shared.histogram[digit] = 0;
    __syncthreads();
    const uint64_t decided = shared.key, mask = shift == 56 ? 0 : ~uint64_t{0} << (shift + 8);
    each_token(row, [&](float scaled, int32_t token) {
      const uint64_t key = order_key(scaled, token);
      if ((key & mask) == decided) atomicAdd(&shared.histogram[key >> shift & (kDigits - 1)], weight(scaled));
    });
    __syncthreads();
    if (threadIdx.x == 0) decide_digit(shared, shift);
    __syncthreads();
    if (shift <= kIdBits && shared.complete) break;
  }
  row.cut = shared.key;
  __syncthreads();
}

// max(1, ceil(p * total)).
__device__ inline Sum share_of(float p, Sum total) {
  const double exact = static_cast<double>(p) * static_cast<double>(total);
  const auto below = static_cast<Sum>(exact);
  const Sum share = below + (static_cast<double>(below) < exact);
  return share < 1 ? 1 : share;
}

// Applies the filters of a rule. REQUIRES: scan() has found the row usable.
__device__ inline void filter(const RowRule& rule, SampledRow& row, RowShared& shared) {
  if (rule.top_k > 0) {
    Sum own = 0;
    each_token(row, [&](float, int32_t) { ++own; });
    if (const auto k = static_cast<Sum>(rule.top_k); added(own, shared) > k) {
      cut_behind(k, row, shared, [](float) { return Sum{1}; });
    }
  }
  if (rule.top_p < 1) {
    const auto weight = [&row](float scaled) { return weight_of(row, scaled); };
    Sum own = 0;
    each_token(row, [&](float scaled, int32_t) { own += weight(scaled); });
    cut_behind(share_of(rule.top_p, added(own, shared)), row, shared, weight);
  }
  if (rule.min_p > 0) row.floor = natural_log(static_cast<double>(rule.min_p));
}

__device__ inline SampledRow row_of(const float* logits, int32_t vocabulary, const RowRule& rule) {
  return {.logits = logits,
          .vocabulary = vocabulary,
          .scale = rule.temperature == 0 ? 1.0F : 1.0F / rule.temperature,
          .highest = 0,
          .cut = 0,
          .floor = -INFINITY};
}

// The row of this block.
__device__ inline SampledRow row_of(const SampleArgs& args, const RowRule& rule) {
  return row_of(args.logits + int64_t{blockIdx.x} * args.vocabulary, args.vocabulary, rule);
}

__device__ inline bool filters(const RowRule& rule) {
  return rule.temperature != 0 && (rule.top_k > 0 || rule.top_p < 1 || rule.min_p > 0);
}

// The row of this block, with what filter_rows() found. usable becomes false if it refused the row;
// of rows without filters it says nothing.
__device__ inline SampledRow filtered_row(const SampleArgs& args, const RowRule& rule, bool& usable) {
  SampledRow row = row_of(args, rule);
  if (!filters(rule)) return row;
  const auto& kept = args.scratch[blockIdx.x].kept;
  row.highest = kept.highest, row.cut = kept.cut, row.floor = kept.floor;
  usable = usable && kept.usable != 0;
  return row;
}

// The tokens [first, end) of a row that are this block's, of kSampleParts; first is a multiple of
// kMultiple.
struct Share {
  int32_t first, end;
};
template <int kMultiple>
__device__ Share share_of_block(const SampleArgs& args) {
  constexpr int32_t kAll = kSampleParts * kMultiple;
  const int32_t each = (args.vocabulary + kAll - 1) / kAll * kMultiple;
  const int32_t first = static_cast<int32_t>(blockIdx.y) * each;
  return {first, min(args.vocabulary, first + each)};
}

// A token and the key that it is chosen by.
struct Candidate {
  double key;
  int32_t token;
};
inline constexpr Candidate kNoCandidate{-INFINITY, INT32_MAX};  // comes behind all others

__device__ inline bool before(const Candidate& a, const Candidate& b) {
  return a.key > b.key || (a.key == b.key && a.token < b.token);
}

// Scans and filters the rows that have filters. Returns CUDA's error code.
int filter_rows(const SampleArgs& args, Stream stream);

}  // namespace slipstream::cuda
