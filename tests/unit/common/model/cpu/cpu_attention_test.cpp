// Attention of a step as the device splits it over threads: the bits do not depend on how many
// there are, whichever sequences share the step.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/checkpoint/rope_frequencies.h"
#include "common/kv/block_pool.h"
#include "common/model/cpu/cpu_attention.h"
#include "common/model/cpu/cpu_device.h"
#include "common/model/device.h"
#include "common/model/step_plan.h"

namespace slipstream {
namespace {

constexpr AttentionShape kShape{.heads = 9, .kv_heads = 3, .head_size = 64};
constexpr int32_t kBlocksOfEach = 12, kSequences = 2, kPromptRows = 320, kRowsMax = 512;

// A network of one op: stores the rows' keys and values, or attends.
class Attention final : public Network {
 public:
  Attention(Tensor qkv, Tensor out, const RopeTable& rope, KvCache* cache) : qkv_(qkv), out_(out), rope_(rope), cache_(cache) {}
  int32_t window = kWholePath;
  void forward(Ops& ops, Shape shape) const override {
    Tensor qkv = qkv_, out = out_;
    qkv.rows = out.rows = shape.rows;
    ops.rope_store(qkv, rope_, *cache_, 0);
    ops.attend(qkv, *cache_, 0, {.window = window}, out);
  }
  std::span<KvCache* const> caches() const override { return {&cache_, 1}; }

  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw;
    for (int32_t i = 0; i < qkv_.rows * qkv_.cols; ++i) static_cast<float*>(qkv_.data)[i] = draw(random);
  }
  std::vector<float> result(int32_t rows) const {
    const auto* from = static_cast<const float*>(out_.data);
    return {from, from + rows * out_.cols};
  }

 private:
  Tensor qkv_, out_;
  const RopeTable& rope_;
  KvCache* cache_;
};

// Rows of some sequences behind their prompts, each row the child of the one before it.
struct Chain {
  int32_t sequence, rows;
};

StepPlan plan_of(std::span<const Chain> chains, int32_t from) {
  StepPlan plan;
  plan.blocks_max = kBlocksOfEach;
  for (const auto& [sequence, rows] : chains) {
    std::vector<int32_t> blocks;
    for (int32_t b = 0; b < kBlocksOfEach; ++b) blocks.push_back(sequence * kBlocksOfEach + b);
    const int32_t index = plan.add_sequence(blocks);
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t at = from + i;
      plan.add({.position = at,
                .slot = blocks[static_cast<size_t>(at / kBlockTokens)] * kBlockTokens + at % kBlockTokens,
                .sequence = index,
                .visible = at + 1});
    }
  }
  return plan;
}

std::vector<float> attend(CpuPath path, int threads, std::span<const Chain> chains, int32_t window) {
  auto device = *make_cpu_device({.threads = threads, .path = path});
  const RopeTable* rope = *device->rope(rope_frequencies({.head_size = kShape.head_size}), 1.0F, kBlocksOfEach * kBlockTokens);
  KvCache* cache = *device->cache(1, kShape, kSequences * kBlocksOfEach, kBlocksOfEach * kBlockTokens);
  const int32_t q = kShape.heads * kShape.head_size, kv = kShape.kv_heads * kShape.head_size;
  Attention network(*device->scratch(kRowsMax, q + 2 * kv, Type::f32), *device->scratch(kRowsMax, q, Type::f32), *rope, cache);
  network.window = window;
  for (const auto& [sequence, rows] : chains) {
    network.fill(static_cast<uint32_t>(sequence));
    const Chain prompt{sequence, kPromptRows};
    EXPECT_TRUE(device->run(network, plan_of({&prompt, 1}, 0).view()).has_value());
  }
  network.fill(99);
  const StepPlan plan = plan_of(chains, kPromptRows);
  EXPECT_TRUE(device->run(network, plan.view()).has_value());
  return network.result(plan.rows());
}

class CpuAttentionTest : public testing::TestWithParam<CpuPath> {};

// With four threads the parts of these few calls are split, with one they are not.
TEST_P(CpuAttentionTest, GivesTheSameBitsOnManyThreadsWhicheverGroupComesFirst) {
  for (const auto& chains : {std::vector<Chain>{{0, 1}, {1, 8}}, {{0, 8}, {1, 1}}, {{1, 3}, {0, 12}}, {{0, 1}}, {{1, 20}}}) {
    for (const int32_t window : {kWholePath, 150}) {
      const std::vector<float> one = attend(GetParam(), 1, chains, window);
      EXPECT_EQ(attend(GetParam(), 4, chains, window), one) << chains.front().rows << " rows first, window " << window;
      EXPECT_EQ(attend(GetParam(), 3, chains, window), one) << chains.front().rows << " rows first, window " << window;
    }
  }
}

// 24 queries or more behind a long context would take 12 MB and more for their scores: the groups
// are smaller there.
TEST_P(CpuAttentionTest, HoldsScratchWithinItsBoundWhateverTheContext) {
  ThreadPool pool(2);
  CpuAttention attention(kernels(GetParam()), pool);
  attention.reserve(1000, kShape);
  EXPECT_LT(attention.scratch_bytes(), 32 * 1400 * 4);
  attention.reserve(131072, kShape);
  EXPECT_EQ(attention.scratch_bytes(), kAttendScratchBytes);
  attention.reserve(131072, {.heads = 64, .kv_heads = 1, .head_size = 64});  // one row's heads take more
  EXPECT_GE(attention.scratch_bytes(), 64 * int64_t{131072} * 4);
  EXPECT_LE(attention.scratch_bytes(), 64 * int64_t{131072 + 512} * 4);
}

INSTANTIATE_TEST_SUITE_P(Paths, CpuAttentionTest, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace slipstream
