#include "kernels/cuda/weigh.h"

#include "kernels/cuda/sampled_row.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 1024;

// 0: the token is not kept.
__device__ Sum weight_at(const SampledRow& row, int32_t token) {
  const float scaled = row.scaled(token);
  return keeps(row, scaled, token) ? weight_of(row, scaled) : 0;
}

struct WeighShared {
  RowShared row;
};

// One block a row.
__global__ void __launch_bounds__(kThreads) weigh_kernel(WeighArgs args) {
  auto& shared = shared_memory<WeighShared>();
  const RowRule rule = args.rules[blockIdx.x];
  const WeighedRow asked = args.rows[blockIdx.x];
  SampledRow row = row_of(asked.logits, args.vocabulary, rule);
  const bool usable = scan(row, shared.row);
  Sum total = 0;
  if (usable) {
    filter(rule, row, shared.row);
    Sum own = 0;
    each_token(row, [&](float scaled, int32_t) { own += weight_of(row, scaled); });
    total = added(own, shared.row);
  }
  for (int32_t at = asked.first + static_cast<int32_t>(threadIdx.x); at < asked.end; at += kThreads) {
    args.weights[at] = usable ? weight_at(row, args.tokens[at]) : 0;
  }
  if (threadIdx.x == 0) args.states[blockIdx.x] = {row.highest, usable ? 1u : 0u, row.cut, row.floor, total};
}

struct FindShared {
  Sum sums[kThreads];
  Sum mark;       // from the owner's first token on
  int32_t owner;  // the thread among whose tokens it lies; kThreads: none
};

// Calls visit(token, weight) of the tokens [first, end), but for those without.
template <class Visit>
__device__ void each_weight(const TokenAtArgs& args, const SampledRow& row, int32_t first, int32_t end, const Visit& visit) {
  int32_t skip = 0;
  while (skip < args.without_count && args.without[skip] < first) ++skip;
  for (int32_t token = first; token < end; ++token) {
    if (skip < args.without_count && args.without[skip] == token) {
      ++skip;
    } else {
      visit(token, weight_at(row, token));
    }
  }
}

// One block. A thread has neighbouring tokens, and their threads' sums tell which one has the mark.
__global__ void __launch_bounds__(kThreads) find_kernel(TokenAtArgs args) {
  auto& shared = shared_memory<FindShared>();
  const RowState state = *args.state;
  SampledRow row = row_of(args.row->logits, args.vocabulary, *args.rule);
  row.highest = state.highest, row.cut = state.cut, row.floor = state.floor;
  const int32_t each = (args.vocabulary + kThreads - 1) / kThreads;
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const int32_t first = min(args.vocabulary, thread * each), end = min(args.vocabulary, first + each);
  Sum own = 0;
  each_weight(args, row, first, end, [&](int32_t, Sum weight) { own += weight; });
  shared.sums[thread] = own;
  __syncthreads();
  if (thread == 0) {
    Sum left = args.mark;
    int32_t owner = 0;
    while (owner < kThreads && shared.sums[owner] <= left) left -= shared.sums[owner++];
    shared.mark = left, shared.owner = owner;
    if (owner == kThreads) *args.token = -1;
  }
  __syncthreads();
  if (thread != shared.owner) return;
  Sum left = shared.mark;
  bool found = false;
  each_weight(args, row, first, end, [&](int32_t token, Sum weight) {
    if (found) return;
    found = weight > left;
    if (found) *args.token = token;
    left -= weight;
  });
}

}  // namespace

int weigh_rows(const WeighArgs& args, Stream stream) {
  return launch(weigh_kernel, dim3(static_cast<unsigned>(args.count)), dim3(kThreads), stream, args);
}

int find_token(const TokenAtArgs& args, Stream stream) { return launch(find_kernel, dim3(1), dim3(kThreads), stream, args); }

}  // namespace slipstream::cuda
