// rank_tokens(): the best of each part of a row by warps, then the best of these.
#include "kernels/cuda/sample.h"

#include "kernels/cuda/sampled_row.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kEach = 8;  // neighbouring tokens of a lane: two groups of four, each of one Philox counter
constexpr int kTile = kThreads * kEach;
constexpr int kTop = kRankedTokens;

__device__ Candidate best_over_warp(Candidate own) {
  for (uint32_t mask = kWarp / 2; mask > 0; mask /= 2) {
    const Candidate other{__shfl_xor_sync(kAllLanes, own.key, mask), __shfl_xor_sync(kAllLanes, own.token, mask)};
    if (before(other, own)) own = other;
  }
  return own;
}

// A warp's best candidates: lane i < kTop has the i-th. Returns those of `top` and of all lanes'
// `added` together. Tokens are all different.
template <int kAdded>
__device__ Candidate merged(Candidate top, Candidate (&added)[kAdded]) {
  const Candidate last{__shfl_sync(kAllLanes, top.key, kTop - 1), __shfl_sync(kAllLanes, top.token, kTop - 1)};
  bool joins = false;
  for (const Candidate& each : added) joins = joins || before(each, last);
  if (!__any_sync(kAllLanes, joins)) return top;
  Candidate result = kNoCandidate;
  for (uint32_t place = 0; place < kTop; ++place) {
    Candidate own = top;
    SLIPSTREAM_UNROLL
    for (int i = 0; i < kAdded; ++i) {
      if (before(added[i], own)) own = added[i];
    }
    const Candidate chosen = best_over_warp(own);
    if (lane_of_thread() == place) result = chosen;
    if (top.token == chosen.token) top = kNoCandidate;
    SLIPSTREAM_UNROLL
    for (int i = 0; i < kAdded; ++i) {
      if (added[i].token == chosen.token) added[i] = kNoCandidate;
    }
  }
  return result;
}

// The candidates among a lane's tokens from `first` on. usable: all of them are numbers.
__device__ void find(const SampledRow& row, const RowRule& rule, int32_t first, int32_t end, Candidate (&found)[kEach],
                     bool& usable) {
  const NoiseKey noise{rule.seed, rule.choice, rule.position, NoisePurpose::coupled};
  PhiloxWords high = {};
  SLIPSTREAM_UNROLL
  for (int32_t i = 0; i < kEach; ++i) {
    const int32_t token = first + i;
    found[i] = kNoCandidate;
    if (rule.temperature != 0 && i % 4 == 0) {
      high = philox(noise_counter(noise, static_cast<uint32_t>(token) / 4, 0), noise.seed);
    }
    if (token >= end) continue;
    const float scaled = row.scaled(token);
    usable = usable && scaled <= kLargest;
    if (!keeps(row, scaled, token)) continue;
    found[i] = {scaled, token};
    if (rule.temperature != 0) found[i].key += gumbel_of(high.word[i % 4], noise_word(noise, static_cast<uint32_t>(token), 1));
  }
}

struct RankShared {
  Candidate tops[kWarps * kTop];
  uint32_t usable[kWarp];
};

// The best of a part of a row. A block has one part, a warp of it tiles of kWarp * kEach tokens.
__global__ void __launch_bounds__(kThreads) rank_part_kernel(SampleArgs args) {
  auto& shared = shared_memory<RankShared>();
  const RowRule rule = args.rules[blockIdx.x];
  SampleScratch& scratch = args.scratch[blockIdx.x];
  bool usable = true;
  const SampledRow row = filtered_row(args, rule, usable);
  const Share share = share_of_block<kEach>(args);
  Candidate top = kNoCandidate;
  for (int32_t tile = share.first; tile < share.end; tile += kTile) {
    Candidate found[kEach];
    find(row, rule, tile + static_cast<int32_t>(threadIdx.x) * kEach, share.end, found, usable);
    top = merged(top, found);
  }
  const uint32_t lane = lane_of_thread(), warp = warp_of_thread();
  if (lane < kTop) shared.tops[warp * kTop + lane] = top;
  const uint32_t all = over_block(usable ? 1u : 0u, shared.usable, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
  if (warp != 0) return;
  Candidate found[kWarps * kTop / kWarp];
  for (uint32_t i = 0; i < kWarps * kTop / kWarp; ++i) found[i] = shared.tops[i * kWarp + lane];
  top = merged(kNoCandidate, found);
  if (lane < kTop) scratch.tops[blockIdx.y][lane] = {top.key, top.token, 0};
  if (lane == 0) scratch.parts[blockIdx.y].usable = all;
}

// The best of all parts. One warp a row; of a row that is refused, none.
__global__ void __launch_bounds__(kWarp) rank_join_kernel(SampleArgs args) {
  constexpr uint32_t kAdded = kSampleParts * kTop / kWarp;
  SampleScratch& scratch = args.scratch[blockIdx.x];
  const uint32_t lane = lane_of_thread();
  bool usable = true;
  for (const SampleScratch::Part& part : scratch.parts) usable = usable && part.usable != 0;
  Candidate found[kAdded];
  SLIPSTREAM_UNROLL
  for (uint32_t i = 0; i < kAdded; ++i) {
    const uint32_t at = i * kWarp + lane;
    const SampleScratch::Best& best = scratch.tops[at / kTop][at % kTop];
    found[i] = usable ? Candidate{best.key, best.token} : kNoCandidate;
  }
  const Candidate top = merged(kNoCandidate, found);
  if (lane < kTop) scratch.top[lane] = {top.key, top.token, 0};
}

// At temperature 0 the confidence is the softmax over the row: the weights of a part.
__global__ void __launch_bounds__(kThreads) rank_total_kernel(SampleArgs args) {
  struct TotalShared {
    Sum sums[kWarp];
  };
  auto& shared = shared_memory<TotalShared>();
  const RowRule rule = args.rules[blockIdx.x];
  if (rule.temperature != 0) return;
  SampleScratch& scratch = args.scratch[blockIdx.x];
  const SampledRow row = row_of(args, rule);
  const double highest = scratch.top[0].key;
  const Share share = share_of_block<kEach>(args);
  Sum total = 0;
  for (int32_t token = share.first + static_cast<int32_t>(threadIdx.x); token < share.end; token += kThreads) {
    const float scaled = row.scaled(token);
    if (scaled > -INFINITY && highest > -INFINITY) total += exp_fixed(static_cast<double>(scaled) - highest);
  }
  total = over_block(total, shared.sums, [](Sum a, Sum b) { return a + b; });
  if (threadIdx.x == 0) scratch.totals[blockIdx.y] = total;
}

// Above temperature 0 the confidence is the softmax of temperature * key over the candidates, all of
// them even if fewer are asked for.
__global__ void __launch_bounds__(kWarp) rank_kernel(SampleArgs args) {
  const SampleScratch& scratch = args.scratch[blockIdx.x];
  const double temperature = args.rules[blockIdx.x].temperature;
  const bool greedy = temperature == 0;
  const auto weight = [&](uint32_t i) {
    const double distance = scratch.top[i].key - scratch.top[0].key;
    return Sum{exp_fixed(greedy ? distance : temperature * distance)};
  };
  uint32_t have = 0;
  while (have < kTop && scratch.top[have].token != kNoCandidate.token) ++have;
  Sum total = 0;
  for (uint32_t i = 0; greedy && i < kSampleParts; ++i) total += scratch.totals[i];
  for (uint32_t i = 0; !greedy && i < have; ++i) total += weight(i);
  const uint32_t own = lane_of_thread();
  if (own >= static_cast<uint32_t>(args.count)) return;
  RankedToken out;
  if (own < have) {
    out = {scratch.top[own].token, static_cast<float>(static_cast<double>(weight(own)) / static_cast<double>(total))};
  }
  args.ranked[int64_t{blockIdx.x} * args.count + own] = out;
}

}  // namespace

int rank_tokens(const SampleArgs& args, Stream stream) {
  const auto rows = static_cast<unsigned>(args.rows);
  int error = filter_rows(args, stream);
  if (error == 0) error = launch(rank_part_kernel, dim3(rows, kSampleParts), dim3(kThreads), stream, args);
  if (error == 0) error = launch(rank_join_kernel, dim3(rows), dim3(kWarp), stream, args);
  if (error == 0) error = launch(rank_total_kernel, dim3(rows, kSampleParts), dim3(kThreads), stream, args);
  if (error == 0) error = launch(rank_kernel, dim3(rows), dim3(kWarp), stream, args);
  return error;
}

}  // namespace slipstream::cuda
