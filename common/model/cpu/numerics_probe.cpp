#include "common/model/cpu/numerics_probe.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "common/model/cpu/cpu_types.h"

namespace slipstream {
namespace {

// Numbers below 1 of many magnitudes and both signs, the same on every machine.
class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<float>(static_cast<int32_t>(state_ >> 8) - (1 << 23)) *
           std::ldexp(1.0F, -23 - static_cast<int>(state_ >> 28));
  }
  std::vector<float> take(size_t count) {
    std::vector<float> numbers(count);
    for (float& each : numbers) each = next();
    return numbers;
  }

 private:
  uint32_t state_ = 1;
};

uint32_t add(std::span<const float> numbers, uint32_t hash) {  // FNV-1a over whole words
  for (const float each : numbers) hash = (hash ^ std::bit_cast<uint32_t>(each)) * 0x01000193;
  return hash;
}

}  // namespace

uint32_t probe_linear(const Kernels& kernels, WeightFormat format, uint32_t hash) {
  constexpr int32_t kCols = 512;
  Numbers numbers;
  const std::vector<float> in = numbers.take(kCols);
  std::vector<float> out(kPanelRows);
  std::vector<std::byte> panels(static_cast<size_t>(panel_bytes(format, kCols)));
  const LinearKernel& kernel = linear_kernel(kernels, format);
  for (int32_t row = 0; row < kPanelRows; ++row) {
    pack_floats(format, kernel.layout, numbers.take(kCols).data(), kCols, row, panels.data());
  }
  std::vector<std::byte> rounded(static_cast<size_t>(activation_bytes(kernel.in, 1, kCols)));
  round_activations(kernels, kernel.in, in.data(), 1, kCols, 0, rounded.data());
  kernel.run({.in = rounded.data(),
              .panels = panels.data(),
              .out = out.data(),
              .out_stride = kPanelRows,
              .rows = 1,
              .in_cols = kCols,
              .out_cols = kPanelRows},
             0, 1);
  return add(out, hash);
}

uint32_t probe_attention(const Kernels& kernels, uint32_t hash) {
  constexpr int32_t kSize = 64, kHeads = 3, kBlocks = 2, kQueries = kHeads * kSize;
  constexpr int32_t kVisible = kCacheRows + 7;
  constexpr uint64_t kAncestors = 0b101;
  const CacheLayout layout{.format = kernels.cache, .head_size = kSize, .value_stride = kSize};
  Numbers numbers;
  std::vector<std::byte> cache(static_cast<size_t>(kBlocks * layout.block_bytes()));
  const auto put = [&](int32_t block, int64_t element, float number) {
    std::byte* at = cache.data() + block * layout.block_bytes() + element * layout.element_bytes();
    const uint16_t rounded = f32_to_bf16(number);
    layout.format == CacheFormat::f32 ? std::memcpy(at, &number, sizeof(number)) : std::memcpy(at, &rounded, sizeof(rounded));
  };
  for (int32_t position = 0; position < kBlocks * kCacheRows; ++position) {
    for (int32_t column = 0; column < kSize; ++column) {
      put(position / kCacheRows, layout.key(position % kCacheRows, column), numbers.next());
      put(position / kCacheRows, layout.value(position % kCacheRows, column), numbers.next());
    }
  }
  const std::vector<float> query = numbers.take(kQueries);
  std::vector<float> out(kQueries), own(kQueries), sums(kQueries), totals(kHeads);
  constexpr int64_t kScoresStride = kBlocks * kCacheRows;
  std::vector<float> scores(kHeads * kScoresStride);
  const int32_t blocks[kBlocks] = {0, 1};
  const AttendArgs args{.cache = cache.data(),
                        .block_stride = layout.block_bytes(),
                        .value_stride = kSize,
                        .blocks = blocks,
                        .visible = &kVisible,
                        .ancestors = &kAncestors,
                        .query = query.data(),
                        .query_stride = kQueries,
                        .out = out.data(),
                        .out_stride = kQueries,
                        .rows = 1,
                        .heads = kHeads,
                        .head_size = kSize,
                        .queries = own.data(),
                        .scores = scores.data(),
                        .scores_stride = kScoresStride,
                        .sums = sums.data(),
                        .totals = totals.data()};
  kernels.attend_queries(args);
  kernels.attend_scores(args, 0, kBlocks);
  kernels.attend_weights(args, 0, kHeads);
  kernels.attend_values(args, 0, kSize);
  return add(out, hash);
}

}  // namespace slipstream
