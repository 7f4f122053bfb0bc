#include "kernels/cuda/sample.h"

#include "kernels/cuda/sampled_row.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // tokens of a thread at a time: one Philox counter gives the words of four
constexpr int kTile = kThreads * kEach;

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
  Candidate best = kNoCandidate;
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
  int32_t tokens[kWarp];
  uint32_t usable[kWarp];
};

// The best token of a part of a row. A block has one part.
__global__ void __launch_bounds__(kThreads) pick_kernel(SampleArgs args) {
  auto& shared = shared_memory<PickShared>();
  const RowRule rule = args.rules[blockIdx.x];
  SampleScratch& scratch = args.scratch[blockIdx.x];
  bool usable = true;
  const SampledRow row = filtered_row(args, rule, usable);
  const Share share = share_of_block<kEach>(args);
  const Candidate own = best_of(row, rule, share.first, share.end, usable);
  const double key = over_block(own.key, shared.keys, [](double a, double b) { return a < b ? b : a; });
  const int32_t tied = own.key == key ? own.token : kNoCandidate.token;
  const int32_t token = over_block(tied, shared.tokens, [](int32_t a, int32_t b) { return a < b ? a : b; });
  const uint32_t all = over_block(usable ? 1u : 0u, shared.usable, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
  if (threadIdx.x == 0) scratch.parts[blockIdx.y] = {key, token == kNoCandidate.token ? -1 : token, all};
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

}  // namespace

int filter_rows(const SampleArgs& args, Stream stream) {
  return launch(filter_kernel, dim3(static_cast<unsigned>(args.rows)), dim3(kThreads), stream, args);
}

int sample_tokens(const SampleArgs& args, Stream stream) {
  const auto rows = static_cast<unsigned>(args.rows);
  if (const int error = filter_rows(args, stream); error != 0) return error;
  if (const int error = launch(pick_kernel, dim3(rows, kSampleParts), dim3(kThreads), stream, args); error != 0) return error;
  return launch(sample_kernel, dim3(rows), dim3(kWarp), stream, args);
}

}  // namespace slipstream::cuda
