#include "kernels/cuda/sample.h"

#include "kernels/cuda/sampled_row.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // tokens of a thread at a time: one Philox counter gives the words of four
constexpr int kTile = kThreads * kEach;

struct Candidate {
  double key;
  int64_t token;  // of 64 bits, as padding would be copied though nobody writes it
};
__device__ bool before(const Candidate& a, const Candidate& b) {
  return a.key > b.key || (a.key == b.key && a.token < b.token);
}

// The kTop best candidates so far, best first, and those of a tile that may join them.
template <int kTop>
struct SampleShared {
  RowShared row;
  double keys[kWarp];
  int64_t tokens[kWarp];
  Candidate found[kTile], top[kTop], joined[kTop];
  uint32_t found_count;
};

// The candidate that comes first of all that come behind `last`; token -1: there is none.
template <int kTop>
__device__ Candidate next_behind(const Candidate& last, uint32_t found, uint32_t have, SampleShared<kTop>& shared) {
  Candidate best = {-INFINITY, INT64_MAX};
  for (uint32_t i = threadIdx.x; i < found + have; i += kThreads) {
    const Candidate each = i < found ? shared.found[i] : shared.top[i - found];
    if (before(last, each) && before(each, best)) best = each;
  }
  const double key = over_block(best.key, shared.keys, [](double a, double b) { return a < b ? b : a; });
  const int64_t own = best.key == key ? best.token : INT64_MAX;
  const int64_t token = over_block(own, shared.tokens, [](int64_t a, int64_t b) { return a < b ? a : b; });
  return {key, token == INT64_MAX ? -1 : token};
}

// Makes `top` the best of itself and of what was found. Returns how many it has.
template <int kTop>
__device__ uint32_t join(uint32_t found, uint32_t have, SampleShared<kTop>& shared) {
  Candidate last = {INFINITY, -1};
  uint32_t now = 0;
  for (; now < kTop && now < found + have; ++now) {
    last = next_behind(last, found, have, shared);
    if (threadIdx.x == 0) shared.joined[now] = last;
  }
  __syncthreads();
  if (threadIdx.x < now) shared.top[threadIdx.x] = shared.joined[threadIdx.x];
  if (threadIdx.x == 0) shared.found_count = 0;
  __syncthreads();
  return now;
}

template <int kTop>
__device__ void add_found(const Candidate& candidate, SampleShared<kTop>& shared) {
  shared.found[atomicAdd(&shared.found_count, 1u)] = candidate;
}

// Adds the kept tokens of the group [first, first + 4) whose key can reach the threshold. The level
// of the noise bounds a key without the logarithms (kernels/exact/noise.h).
template <int kTop>
__device__ void find_in_group(const SampledRow& row, const NoiseKey& noise, int32_t first, double threshold,
                              SampleShared<kTop>& shared) {
  const PhiloxWords high = philox(noise_counter(noise, static_cast<uint32_t>(first) / kEach, 0), noise.seed);
  for (int32_t i = 0; i < kEach && first + i < row.vocabulary; ++i) {
    const float scaled = row.scaled(first + i);
    if (static_cast<double>(scaled) + noise_ceiling(high.word[i]) < threshold || !keeps(row, scaled, first + i)) continue;
    const uint32_t low = noise_word(noise, static_cast<uint32_t>(first + i), 1);
    add_found({static_cast<double>(scaled) + gumbel_of(high.word[i], low), first + i}, shared);
  }
}

// The same at temperature 0, where a key is the logit.
template <int kTop>
__device__ void find_greedy(const SampledRow& row, int32_t first, double threshold, SampleShared<kTop>& shared) {
  for (int32_t i = 0; i < kEach && first + i < row.vocabulary; ++i) {
    const float scaled = row.scaled(first + i);
    if (scaled > -INFINITY && static_cast<double>(scaled) >= threshold) add_found({scaled, first + i}, shared);
  }
}

// Fills `top`. Returns how many tokens it has: fewer than kTop if the chain keeps fewer.
template <int kTop>
__device__ uint32_t find_top(const SampledRow& row, const RowRule& rule, SampleShared<kTop>& shared) {
  const NoiseKey noise{rule.seed, rule.choice, rule.position, NoisePurpose::coupled};
  if (threadIdx.x == 0) shared.found_count = 0;
  __syncthreads();
  uint32_t have = 0;
  for (int32_t tile = 0; tile < row.vocabulary; tile += kTile) {
    const double threshold = have == kTop ? shared.top[kTop - 1].key : -INFINITY;
    const int32_t first = tile + static_cast<int32_t>(threadIdx.x) * kEach;
    if (rule.temperature == 0) {
      find_greedy(row, first, threshold, shared);
    } else {
      find_in_group(row, noise, first, threshold, shared);
    }
    __syncthreads();
    const uint32_t found = shared.found_count;
    __syncthreads();  // before the next tile adds to the count
    if (found > 0) have = join(found, have, shared);
  }
  return have;
}

// Scans and filters the row of this block. Returns how many candidates `top` then has; 0: refused.
template <int kTop>
__device__ uint32_t choose(const SampleArgs& args, SampledRow& row, SampleShared<kTop>& shared) {
  const RowRule rule = args.rules[blockIdx.x];
  row = {.logits = args.logits + int64_t{blockIdx.x} * args.vocabulary,
         .vocabulary = args.vocabulary,
         .scale = rule.temperature == 0 ? 1.0F : 1.0F / rule.temperature,
         .highest = 0,
         .cut = 0,
         .floor = -INFINITY};
  if (!scan(row, shared.row)) return 0;
  if (rule.temperature != 0) filter(rule, row, shared.row);
  return find_top(row, rule, shared);
}

// One block a row.
__global__ void __launch_bounds__(kThreads) sample_kernel(SampleArgs args) {
  auto& shared = shared_memory<SampleShared<1>>();
  SampledRow row;
  const uint32_t have = choose(args, row, shared);
  if (threadIdx.x == 0) args.ids[blockIdx.x] = have == 0 ? -1 : static_cast<int32_t>(shared.top[0].token);
}

// At temperature 0 the confidence is the softmax over the row, else that of temperature * key over
// the candidates, all of them even if fewer are asked for.
__global__ void __launch_bounds__(kThreads) rank_kernel(SampleArgs args) {
  auto& shared = shared_memory<SampleShared<kRankedTokens>>();
  SampledRow row;
  const uint32_t have = choose(args, row, shared);
  const double temperature = args.rules[blockIdx.x].temperature;
  const bool greedy = temperature == 0;
  const auto weight = [&](uint32_t i) {
    const double key = shared.top[i].key;
    return exp_fixed(greedy ? key - static_cast<double>(row.highest) : temperature * (key - shared.top[0].key));
  };
  Sum total = 0;
  if (greedy && have > 0) {
    each_token(row, [&](float scaled, int32_t) {
      total += exp_fixed(static_cast<double>(scaled) - static_cast<double>(row.highest));
    });
    total = added(total, shared.row);
  } else {
    for (uint32_t i = 0; i < have; ++i) total += weight(i);
  }
  const uint32_t own = threadIdx.x;
  if (own >= static_cast<uint32_t>(args.count)) return;
  RankedToken out;
  if (own < have)
    out = {static_cast<int32_t>(shared.top[own].token),
           static_cast<float>(static_cast<double>(weight(own)) / static_cast<double>(total))};
  args.ranked[int64_t{blockIdx.x} * args.count + own] = out;
}

}  // namespace

int sample_tokens(const SampleArgs& args, Stream stream) {
  return launch(sample_kernel, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
}

int rank_tokens(const SampleArgs& args, Stream stream) {
  return launch(rank_kernel, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
}

}  // namespace slipstream::cuda
