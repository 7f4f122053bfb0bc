#include "common/model/cpu/cpu_attention.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"

namespace slipstream {
namespace {

constexpr int64_t kRangeProducts = 100'000;  // multiply-adds of a range: some microseconds, worth waking a thread
// Multiply-adds of a layer from which three loops pay instead of one: those of bf16 take a quarter
// of the time.
constexpr int64_t parted_products(CacheFormat format) { return format == CacheFormat::f32 ? 1'000'000 : 4'000'000; }
constexpr int32_t kPartColumns = 2 * kLanes;

// Floats between the scores of two queries: whole vectors, and an odd number of them. With an even
// number the scores of many queries for one position could have the same address modulo 4 KB, and a
// cache keeps only a few such lines.
int64_t scores_stride(int32_t blocks) { return int64_t{blocks} * kCacheRows + kLanes; }

// Positions before the end of what any of the rows sees.
int32_t deepest(const Step& step, size_t first, size_t count) {
  int32_t seen = 0;
  for (size_t row = first; row < first + count; ++row) {
    seen = std::max(seen, step.visible[row] + static_cast<int32_t>(std::bit_width(step.ancestors[row])));
  }
  return seen;
}

// Scratch of a query whose row sees that many blocks: its scores, sums, query and total, in bytes.
int64_t query_bytes(int32_t blocks, int32_t head_size) {
  return (scores_stride(blocks) + int64_t{2} * value_stride(head_size) + kLanes) * int64_t{sizeof(float)};
}

}  // namespace

CpuAttention::CpuAttention(const Kernels& kernels, ThreadPool& pool)
    : kernels_(kernels), pool_(pool), scratch_(static_cast<size_t>(pool.threads() * kCallsPerThread)) {
  calls_.reserve(scratch_.size());
}

void CpuAttention::reserve_rows(int32_t rows_max) { rows_.reserve(static_cast<size_t>(rows_max)); }

// The largest call: as many queries as a group has at best, or as many as the bound leaves, or the
// heads of a single row if those are more.
void CpuAttention::reserve(int32_t positions, const AttentionShape& shape) {
  const int32_t heads = shape.heads / shape.kv_heads;
  const int64_t each = query_bytes(blocks_of(positions + kAncestorsMax), shape.head_size);
  const int64_t best = std::min(kernels_.attend_queries_best * each, kAttendScratchBytes);
  const size_t lines = lines_of(std::max(best, heads * each));
  for (auto& scratch : scratch_) scratch.resize(std::max(scratch.size(), lines));
}

int64_t CpuAttention::scratch_bytes(size_t scratch) const {
  return static_cast<int64_t>(scratch_[scratch].size() * sizeof(CacheLine));
}

void CpuAttention::begin(const Step& step) {
  step_ = &step;
  grouped_heads_ = 0;
  deepest_ = deepest(step, 0, step.token.size());
}

// Blocks between the first and the last that any of these rows sees.
int32_t CpuAttention::blocks_seen(int32_t first, int32_t count, int32_t window) const {
  const auto at = static_cast<size_t>(first);
  const AttendArgs args{
      .visible = step_->visible.data() + at, .ancestors = step_->ancestors.data() + at, .rows = count, .window = window};
  return attend_blocks(args) - attend_first_block(args);
}

// Splits the step's rows into groups of neighbouring rows of one sequence, as large as shares the
// loading of a block well and has room in the scratch. The groups are made when the window is
// another than the layer's before, as all layers of a network have the same heads.
void CpuAttention::group_rows(const AttendedLayer& over) {
  const AttentionShape& shape = over.cache.shape;
  const int32_t heads = shape.heads / shape.kv_heads;  // query heads per key-value head: a group has rows * heads queries
  if (heads == grouped_heads_ && over.rules.window == grouped_window_) return;
  grouped_heads_ = heads;
  grouped_window_ = over.rules.window;
  const int32_t rows_max = std::max(1, kernels_.attend_queries_best / heads);
  const int64_t room = scratch_bytes(0);
  rows_.clear();
  for (int32_t row = 0; row < static_cast<int32_t>(step_->token.size()); ++row) {
    const auto at = static_cast<size_t>(row);
    const auto fits = [&](const Rows& group) {
      const int32_t count = group.count + 1;
      return count <= rows_max &&
             count * heads * query_bytes(blocks_seen(group.first, count, over.rules.window), shape.head_size) <= room;
    };
    const bool joins = row > 0 && step_->sequence[at] == step_->sequence[at - 1] && fits(rows_.back());
    if (!joins) rows_.push_back({.first = row, .count = 0});
    ++rows_.back().count;
  }
}

// The arguments of call i: key-value head i % kv_heads of group i / kv_heads. It gathers the call's
// queries, too. The scratch is, in this order, sums, scores, queries and totals; each begins at a
// cache line.
AttendArgs CpuAttention::call(Tensor qkv, const AttendedLayer& over, Tensor out, int32_t i, size_t scratch) {
  const CpuCache& cache = over.cache;
  const int32_t kv_heads = cache.shape.kv_heads, heads = cache.shape.heads / kv_heads, size = cache.shape.head_size;
  const Rows rows = rows_[static_cast<size_t>(i / kv_heads)];
  const auto first = static_cast<size_t>(rows.first);
  const int64_t queries = int64_t{rows.count} * heads, column = int64_t{i % kv_heads} * heads * size;
  const int32_t blocks = blocks_seen(rows.first, rows.count, over.rules.window);
  const int64_t stride = scores_stride(blocks), bytes = queries * query_bytes(blocks, size);
  CHECK(bytes <= scratch_bytes(scratch), "{} queries behind {} blocks in {} bytes", queries, blocks, scratch_bytes(scratch));
  float* sums = reinterpret_cast<float*>(scratch_[scratch].data());
  float* scores = sums + queries * cache.layout.value_stride;
  float* own = scores + queries * stride;
  AttendArgs args{.cache = cache.head(over.layer, 0, i % kv_heads),
                  .block_stride = cache.block_bytes(),
                  .value_stride = cache.layout.value_stride,
                  .blocks = step_->block_table.data() + int64_t{step_->sequence[first]} * step_->blocks_max,
                  .visible = step_->visible.data() + first,
                  .ancestors = step_->ancestors.data() + first,
                  .query = row_of(qkv, rows.first) + column,
                  .query_stride = qkv.cols,
                  .out = row_of(out, rows.first) + column,
                  .out_stride = out.cols,
                  .rows = rows.count,
                  .heads = heads,
                  .head_size = size,
                  .window = over.rules.window,
                  .scale = over.rules.scale,
                  .soft_cap = over.rules.soft_cap,
                  .queries = own,
                  .scores = scores,
                  .scores_stride = stride,
                  .sums = sums,
                  .totals = own + queries * size};
  args.first_block = attend_first_block(args);
  kernels_.attend_queries(args);
  return args;
}

// Whole calls are split over the threads unless there are too few of them to keep all threads busy
// and the work is large enough to pay for three loops.
void CpuAttention::run(Tensor qkv, const AttendedLayer& over, Tensor out) {
  group_rows(over);
  const AttentionShape& shape = over.cache.shape;
  const int32_t kv_heads = shape.kv_heads, calls = static_cast<int32_t>(rows_.size()) * kv_heads;
  const int32_t seen = over.rules.window == kWholePath ? deepest_ : std::min(deepest_, over.rules.window);
  const int64_t products = int64_t{2} * qkv.rows * shape.heads * shape.head_size * seen;
  if (pool_.threads() > 1 && calls < static_cast<int32_t>(scratch_.size()) &&
      products >= parted_products(over.cache.layout.format)) {
    calls_.clear();
    for (int32_t i = 0; i < calls; ++i) calls_.push_back(call(qkv, over, out, i, static_cast<size_t>(i)));
    return run_parts(shape.head_size);
  }
  const auto grain = static_cast<int32_t>(std::max<int64_t>(1, kRangeProducts * calls / std::max<int64_t>(1, products)));
  pool_.run(calls, grain, [&](int32_t begin, int32_t end, int thread) {
    for (int32_t i = begin; i < end; ++i) {
      const AttendArgs args = call(qkv, over, out, i, static_cast<size_t>(thread));
      kernels_.attend_scores(args, args.first_block, attend_blocks(args));
      kernels_.attend_weights(args, 0, args.rows * args.heads);
      kernels_.attend_values(args, 0, args.head_size);
    }
  });
}

// With few calls behind a long context, splits the blocks, then the queries, then the columns of
// all calls over the threads. Each loop ends before the next begins, because weights need all
// scores of a query, and values all weights.
void CpuAttention::run_parts(int32_t head_size) {
  const auto calls = static_cast<int32_t>(calls_.size());
  const auto split = [&](int32_t size, int32_t range, const auto& part) {
    const int32_t ranges = (size + range - 1) / range;
    pool_.run(ranges * calls, 1, [&](int32_t begin, int32_t end, int) {
      for (int32_t i = begin; i < end; ++i) {
        const int32_t first = i / calls * range;
        part(calls_[static_cast<size_t>(i % calls)], first, std::min(first + range, size));
      }
    });
  };
  int32_t blocks = 0, queries = 0;  // of the largest call
  for (const AttendArgs& args : calls_) blocks = std::max(blocks, attend_blocks(args) - args.first_block);
  for (const AttendArgs& args : calls_) queries = std::max(queries, args.rows * args.heads);
  const int32_t run = std::max(1, blocks / (pool_.threads() * kCallsPerThread));
  split(blocks, run, [&](const AttendArgs& args, int32_t first, int32_t last) {
    kernels_.attend_scores(args, args.first_block + first, std::min(args.first_block + last, attend_blocks(args)));
  });
  split(queries, (queries + 3) / 4, [&](const AttendArgs& args, int32_t first, int32_t last) {
    kernels_.attend_weights(args, first, std::min(last, args.rows * args.heads));
  });
  split(head_size, kPartColumns,
        [&](const AttendArgs& args, int32_t first, int32_t last) { kernels_.attend_values(args, first, last); });
}

}  // namespace slipstream
