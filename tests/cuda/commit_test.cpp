// The twin is CpuOps::move (common/model/cpu/cpu_ops.cpp): copies, in order.
#include "kernels/cuda/commit.h"

#include <random>

#include <gtest/gtest.h>

#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

struct Move {
  int32_t from, to;
};

std::vector<float> moved(std::vector<float> cells, const PagedCache& cache, const std::vector<Move>& moves) {
  for (int32_t layer = 0; layer < cache.layers; ++layer) {
    for (const Move& move : moves) {
      for (int32_t i = 0; i < 2 * cache.kv_heads; ++i) {
        std::copy_n(cells.begin() + cache.at(layer, move.from, i / 2, i % 2), cache.head_size,
                    cells.begin() + cache.at(layer, move.to, i / 2, i % 2));
      }
    }
  }
  return cells;
}

void expect_moves(const std::vector<Move>& moves, PagedCache cache) {
  const std::vector<float> before = kept(cache.element, normal(cache.elements(), 1));
  Elements cells("cache", cache.element, before, false);
  std::vector<int32_t> flat;
  for (const Move& move : moves) flat.insert(flat.end(), {move.from, move.to});
  DeviceArray<int32_t> slots("moves", flat);
  cache.data = cells.data();
  ASSERT_EQ(commit({.cache = cache, .moves = slots.data(), .count = static_cast<int32_t>(moves.size())}, nullptr), 0)
      << take_fault();
  EXPECT_EQ(cells.host(), moved(before, cache, moves));
}

constexpr PagedCache kSmall{.layers = 2, .blocks = 3, .kv_heads = 2, .head_size = 20, .element = Element::f32};

TEST(CudaCommit, MovesInOrderOverTheSourcesOfEarlierMoves) {
  expect_moves({}, kSmall);
  expect_moves({{5, 3}}, kSmall);
  expect_moves({{4, 3}, {6, 4}, {40, 6}, {95, 40}, {3, 95}, {3, 3}}, kSmall);
}

TEST(CudaCommit, EqualsItsCpuTwinForRandomMoves) {
  std::mt19937 random(7);
  for (const PagedCache& cache :
       {kSmall, PagedCache{nullptr, 1, 3, 1, 256, Element::bf16}, PagedCache{nullptr, 3, 3, 2, 64, Element::f16}}) {
    std::vector<Move> moves(40);
    for (Move& each : moves) each = {static_cast<int32_t>(random() % 96), static_cast<int32_t>(random() % 96)};
    expect_moves(moves, cache);
  }
}

}  // namespace
}  // namespace slipstream::cuda
