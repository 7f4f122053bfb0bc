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

__device__ SampledRow row_of(const SampleArgs& args, const RowRule& rule) {
  return {.logits = args.logits + int64_t{blockIdx.x} * args.vocabulary,
          .vocabulary = args.vocabulary,
          .scale = rule.temperature == 0 ? 1.0F : 1.0F / rule.temperature,
          .highest = 0,
          .cut = 0,
          .floor = -INFINITY};
}

// Scans and filters the row of this block. Returns how many candidates `top` then has; 0: refused.
template <int kTop>
__device__ uint32_t choose(const SampleArgs& args, SampledRow& row, SampleShared<kTop>& shared) {
  const RowRule rule = args.rules[blockIdx.x];
  row = row_of(args, rule);
  if (!scan(row, shared.row)) return 0;
  if (rule.temperature != 0) filter(rule, row, shared.row);
  return find_top(row, rule, shared);
}

__device__ bool filters(const RowRule& rule) {
  return rule.temperature != 0 && (rule.top_k > 0 || rule.top_p < 1 || rule.min_p > 0);
}

struct FilterShared {
  RowShared row;
};

// What the filters keep of a row, where it has some. One block a row.
__global__ void __launch_bounds__(kThreads) filter_kernel(SampleArgs args) {
  auto& shared = shared_memory<FilterShared>();
  const RowRule rule = args.rules[blockIdx.x];
  if (!filters(rule)) return;
  SampledRow row = row_of(args, rule);
  const bool usable = scan(row, shared.row);
  if (usable) filter(rule, row, shared.row);
  if (threadIdx.x == 0) args.scratch[blockIdx.x].kept = {row.highest, usable ? 1u : 0u, row.cut, row.floor};
}

// The best of a thread's tokens in [first, end), by the rule. usable: all of them are numbers.
__device__ Candidate best_of(const SampledRow& row, const RowRule& rule, int32_t first, int32_t end, bool& usable) {
  const NoiseKey noise{rule.seed, rule.choice, rule.position, NoisePurpose::coupled};
  Candidate best = {-INFINITY, INT64_MAX};
  for (int32_t group = first + static_cast<int32_t>(threadIdx.x) * kEach; group < end; group += kTile) {
    PhiloxWords high = {};
    if (rule.temperature != 0) high = philox(noise_counter(noise, static_cast<uint32_t>(group) / kEach, 0), noise.seed);
    for (int32_t i = 0; i < kEach && group + i < end; ++i) {
      const int32_t token = group + i;
      const float scaled = row.scaled(token);
      usable = usable && scaled <= kLargest;
      Candidate own = {scaled, token};
      if (rule.temperature != 0) {
        if (static_cast<double>(scaled) + noise_ceiling(high.word[i]) < best.key || !keeps(row, scaled, token)) continue;
        own.key = static_cast<double>(scaled) + gumbel_of(high.word[i], noise_word(noise, static_cast<uint32_t>(token), 1));
      }
      if (scaled > -INFINITY && before(own, best)) best = own;
    }
  }
  return best;
}

struct PickShared {
  double keys[kWarp];
  int64_t tokens[kWarp];
  uint32_t usable[kWarp];
};

// The best token of a part of a row. A block has one part.
__global__ void __launch_bounds__(kThreads) pick_kernel(SampleArgs args) {
  auto& shared = shared_memory<PickShared>();
  const RowRule rule = args.rules[blockIdx.x];
  SampleScratch& scratch = args.scratch[blockIdx.x];
  SampledRow row = row_of(args, rule);
  bool usable = true;
  if (filters(rule)) {
    row.highest = scratch.kept.highest, row.cut = scratch.kept.cut, row.floor = scratch.kept.floor;
    usable = scratch.kept.usable != 0;
  }
  const int32_t each = (args.vocabulary + kSampleParts * kEach - 1) / (kSampleParts * kEach) * kEach;
  const int32_t first = static_cast<int32_t>(blockIdx.y) * each, end = min(args.vocabulary, first + each);
  const Candidate own = best_of(row, rule, first, end, usable);
  const double key = over_block(own.key, shared.keys, [](double a, double b) { return a < b ? b : a; });
  const int64_t tied = own.key == key ? own.token : INT64_MAX;
  const int64_t token = over_block(tied, shared.tokens, [](int64_t a, int64_t b) { return a < b ? a : b; });
  const uint32_t all = over_block(usable ? 1u : 0u, shared.usable, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
  if (threadIdx.x == 0) scratch.parts[blockIdx.y] = {key, token == INT64_MAX ? -1 : static_cast<int32_t>(token), all};
}

// The best of the parts. Parts are in the order of their tokens, so the first of equal ones has the
// lowest id.
__global__ void __launch_bounds__(kWarp) sample_kernel(SampleArgs args) {
  if (threadIdx.x != 0) return;
  double key = -INFINITY;
  int32_t token = -1;
  bool usable = true;
  for (const SampleScratch::Part& part : args.scratch[blockIdx.x].parts) {
    usable = usable && part.usable != 0;
    if (part.token >= 0 && (token < 0 || part.key > key)) key = part.key, token = part.token;
  }
  args.ids[blockIdx.x] = usable ? token : -1;
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
  const auto rows = static_cast<unsigned>(args.rows);
  if (const int error = launch(filter_kernel, dim3(rows), dim3(kThreads), stream, args); error != 0) return error;
  if (const int error = launch(pick_kernel, dim3(rows, kSampleParts), dim3(kThreads), stream, args); error != 0) return error;
  return launch(sample_kernel, dim3(rows), dim3(kWarp), stream, args);
}

int rank_tokens(const SampleArgs& args, Stream stream) {
  return launch(rank_kernel, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
}

}  // namespace slipstream::cuda
