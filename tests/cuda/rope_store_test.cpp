#include "kernels/cuda/rope_store.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

const Kernels& twin = kernels(CpuPath::portable);

struct Case {
  int32_t heads, kv_heads, size;
  Element element;
};
constexpr int32_t kRows = 4, kLayers = 2, kBlocks = 3, kPositions = 50;
const std::vector<int32_t> kPosition{0, 49, 7, 7}, kSlot{0, 31, 32, 95};

// What the launch must leave: qkv with rotated queries, and the cache.
struct State {
  std::vector<float> qkv, cache;
};

State on_cpu(const Case& c, State state, const PagedCache& cache, const std::vector<float>& cosine,
             const std::vector<float>& sine) {
  const int32_t size = c.size, all = c.heads + 2 * c.kv_heads;
  for (int32_t row = 0; row < kRows; ++row) {
    const int64_t angle = int64_t{kPosition[at(row)]} * (size / 2);
    float* in = state.qkv.data() + int64_t{row} * all * size;
    for (int32_t head = 0; head < c.heads; ++head) twin.rope(in + head * size, &cosine[at(angle)], &sine[at(angle)], size / 2);
    for (int32_t head = 0; head < c.kv_heads; ++head) {
      const float* key = in + (c.heads + head) * size;
      float* stored = &state.cache[at(cache.at(1, kSlot[at(row)], head, 0))];
      std::copy_n(key, size, stored);
      twin.rope(stored, &cosine[at(angle)], &sine[at(angle)], size / 2);
      std::copy_n(key + c.kv_heads * size, size, &state.cache[at(cache.at(1, kSlot[at(row)], head, 1))]);
    }
  }
  return state;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, Element element) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance(element, 4)) << i;
}

TEST(CudaRopeStore, EqualsItsCpuTwin) {
  for (const Case& c : {Case{1, 1, 2, Element::f32}, Case{3, 1, 64, Element::f32}, Case{8, 2, 128, Element::bf16},
                        Case{9, 3, 34, Element::bf16}, Case{9, 3, 34, Element::f16}}) {
    PagedCache cache{.layers = kLayers, .blocks = kBlocks, .kv_heads = c.kv_heads, .head_size = c.size, .element = c.element};
    std::vector<float> cosine, sine;
    for (const float angle : normal(int64_t{kPositions} * c.size / 2, 4)) {
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
    const State before{kept(c.element, normal(int64_t{kRows} * (c.heads + 2 * c.kv_heads) * c.size, 1)),
                       kept(c.element, normal(cache.elements(), 2))};
    Elements qkv("qkv", c.element, before.qkv, false), stored("cache", c.element, before.cache, false);
    DeviceArray<float> cosines("cosine", cosine), sines("sine", sine);
    DeviceArray<int32_t> position("position", kPosition), slot("slot", kSlot);
    cache.data = stored.data();
    ASSERT_EQ(rope_store({.qkv = qkv.data(),
                          .cosine = cosines.data(),
                          .sine = sines.data(),
                          .position = position.data(),
                          .slot = slot.data(),
                          .cache = cache,
                          .layer = 1,
                          .rows = kRows,
                          .heads = c.heads},
                         nullptr),
              0)
        << take_fault();
    const State expected = on_cpu(c, before, cache, cosine, sine);
    expect_near(qkv.host(), expected.qkv, c.element);
    expect_near(stored.host(), expected.cache, c.element);
  }
}

}  // namespace
}  // namespace slipstream::cuda
