#include "kernels/cuda/attend.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream::cuda {
namespace {

const Kernels& twin = kernels(CpuPath::portable);

struct Row {
  int32_t sequence, visible;
  uint64_t ancestors = 0;
};

// Rows of some sequences over one cache, whose blocks are dealt out in another order than that of
// the positions. What no row sees holds NaN.
struct Scene {
  int32_t heads, kv_heads, size;
  std::vector<Row> rows;
  Element element = Element::f32;
  int32_t window = 0;
  float scale = 0, soft_cap = 0;
  int32_t blocks_max = 0;  // of a sequence
  std::vector<int32_t> table, sequence, visible;
  std::vector<uint64_t> ancestors;
  std::vector<float> query, cells;  // [rows, heads, size]; the cache
  PagedCache cache;

  Scene(int32_t all_heads, int32_t key_heads, int32_t head_size, std::vector<Row> all, Element kind, int32_t width = 0)
      : heads(all_heads), kv_heads(key_heads), size(head_size), rows(std::move(all)), element(kind), window(width) {
    int32_t sequences = 0;
    for (const Row& row : rows) {
      sequences = std::max(sequences, row.sequence + 1);
      blocks_max = std::max(blocks_max, (row.visible + 64) / kBlockPositions + 1);
      sequence.push_back(row.sequence), visible.push_back(row.visible), ancestors.push_back(row.ancestors);
    }
    for (int32_t i = 0; i < sequences * blocks_max; ++i) table.push_back(i);
    std::shuffle(table.begin(), table.end(), std::mt19937(1));
    cache = {nullptr, 2, sequences * blocks_max, kv_heads, size, element};
    query = kept(element, normal(std::ssize(rows) * heads * size, 2));
    fill_cache();
  }

  int32_t slot(int32_t of, int32_t position) const {
    return table[at(of * blocks_max + position / kBlockPositions)] * kBlockPositions + position % kBlockPositions;
  }
  void fill_cache() {
    const std::vector<float> numbers = kept(element, normal(cache.elements(), 3));
    cells.assign(numbers.size(), NAN);
    for (const Row& row : rows) {
      for (int32_t p = 0; p < row.visible + 64; ++p) {
        if (p >= row.visible && (row.ancestors >> (p - row.visible) & 1) == 0) continue;
        for (int32_t i = 0; i < 2 * kv_heads; ++i) {
          const int64_t first = cache.at(1, slot(row.sequence, p), i / 2, i % 2);
          std::copy_n(numbers.begin() + first, size, cells.begin() + first);
        }
      }
    }
  }
  // One row alone.
  Scene only(size_t row) const {
    Scene one = *this;
    one.rows = {rows[row]};
    one.sequence = {sequence[row]}, one.visible = {visible[row]}, one.ancestors = {ancestors[row]};
    const auto first = query.begin() + static_cast<int64_t>(row) * heads * size;
    one.query = {first, first + heads * size};
    return one;
  }
};

std::vector<float> on_device(const Scene& scene) {
  AttendPlan plan;
  plan_attend({scene.sequence, scene.visible, scene.ancestors}, scene.heads / scene.kv_heads, plan);
  plan.items.push_back({});  // padding
  Elements query("query", scene.element, scene.query), cells("cache", scene.element, scene.cells),
      out("out", scene.element, scene.query.size());
  DeviceArray<int32_t> sequence("sequence", scene.sequence), visible("visible", scene.visible),
      table("block table", scene.table), first_part("first part", plan.first_part);
  DeviceArray<uint64_t> ancestors("ancestors", scene.ancestors);
  DeviceArray<AttendItem> items("items", plan.items);
  DeviceArray<float> parts("parts", at(int64_t{plan.parts} * scene.heads * (scene.size + 2)));
  AttendArgs args{.qkv = query.data(),
                  .qkv_stride = int64_t{scene.heads} * scene.size,
                  .out = out.data(),
                  .sequence = sequence.data(),
                  .visible = visible.data(),
                  .ancestors = ancestors.data(),
                  .block_table = table.data(),
                  .items = items.data(),
                  .first_part = first_part.data(),
                  .parts = parts.data(),
                  .cache = scene.cache,
                  .blocks_max = scene.blocks_max,
                  .items_count = static_cast<int32_t>(plan.items.size()),
                  .layer = 1,
                  .rows = static_cast<int32_t>(scene.rows.size()),
                  .heads = scene.heads,
                  .window = scene.window,
                  .scale = scene.scale,
                  .soft_cap = scene.soft_cap};
  args.cache.data = cells.data();
  EXPECT_EQ(attend(args, nullptr), 0);
  EXPECT_EQ(take_fault(), "");
  return out.host();
}

// One row and one key-value head by the f32 kernels of kernels/cpu.
void row_on_cpu(const Scene& scene, size_t row, int32_t kv_head, float* out) {
  const int32_t group = scene.heads / scene.kv_heads, stride = (scene.size + kLanes - 1) / kLanes * kLanes;
  const CacheLayout layout{.format = CacheFormat::f32, .head_size = scene.size, .value_stride = stride};
  std::vector<float> blocks(at(scene.blocks_max * layout.block_bytes() / 4));
  std::vector<int32_t> table;
  for (int32_t p = 0; p < scene.blocks_max * kCacheRows; ++p) {
    if (p % kCacheRows == 0) table.push_back(p / kCacheRows);
    float* block = blocks.data() + p / kCacheRows * layout.block_bytes() / 4;
    const int32_t slot = scene.slot(scene.sequence[row], p);
    for (int32_t d = 0; d < scene.size; ++d) {
      block[layout.key(p % kCacheRows, d)] = scene.cells[at(scene.cache.at(1, slot, kv_head, 0) + d)];
      block[layout.value(p % kCacheRows, d)] = scene.cells[at(scene.cache.at(1, slot, kv_head, 1) + d)];
    }
  }
  const int64_t scores_stride = int64_t{scene.blocks_max} * kCacheRows + kLanes;
  std::vector<float> own(at(group * scene.size)), scores(at(group * scores_stride)), sums(at(group * stride)),
      totals(at(group));
  slipstream::AttendArgs args{.cache = reinterpret_cast<const std::byte*>(blocks.data()),
                              .block_stride = layout.block_bytes(),
                              .value_stride = stride,
                              .blocks = table.data(),
                              .visible = &scene.visible[row],
                              .ancestors = &scene.ancestors[row],
                              .query = &scene.query[(row * at(scene.heads) + at(kv_head * group)) * at(scene.size)],
                              .query_stride = 0,
                              .out = out,
                              .out_stride = 0,
                              .rows = 1,
                              .heads = group,
                              .head_size = scene.size,
                              .window = scene.window,
                              .scale = scene.scale,
                              .soft_cap = scene.soft_cap,
                              .queries = own.data(),
                              .scores = scores.data(),
                              .scores_stride = scores_stride,
                              .sums = sums.data(),
                              .totals = totals.data()};
  args.first_block = attend_first_block(args);
  twin.attend_queries(args);
  twin.attend_scores(args, args.first_block, attend_blocks(args));
  twin.attend_weights(args, 0, group);
  twin.attend_values(args, 0, scene.size);
}

std::vector<float> on_cpu(const Scene& scene) {
  const int32_t group = scene.heads / scene.kv_heads;
  std::vector<float> out(scene.query.size());
  for (size_t row = 0; row < scene.rows.size(); ++row) {
    for (int32_t head = 0; head < scene.kv_heads; ++head) {
      row_on_cpu(scene, row, head, &out[(row * at(scene.heads) + at(head * group)) * at(scene.size)]);
    }
  }
  return out;
}

// A random tree of `nodes` rows behind `visible` positions: each row sees itself and all that its
// parent sees.
std::vector<Row> tree(int32_t sequence, int32_t visible, int32_t nodes) {
  std::mt19937 random(static_cast<uint32_t>(nodes));
  std::vector<Row> rows;
  for (int32_t i = 0; i < nodes; ++i) {
    const uint64_t above = i == 0 ? 0 : rows[random() % at(i)].ancestors;
    rows.push_back({sequence, visible, above | uint64_t{1} << i});
  }
  return rows;
}

std::vector<Row> joined(std::vector<Row> rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

Scene capped(Scene scene, float scale, float soft_cap) {
  scene.scale = scale, scene.soft_cap = soft_cap;
  return scene;
}

std::vector<Scene> scenes() {
  const Element f32 = Element::f32, bf16 = Element::bf16, f16 = Element::f16;
  const std::vector<Row> prompt{{0, 30}, {0, 31}, {0, 32}, {0, 33}, {0, 34}, {0, 65}};
  const uint64_t far = uint64_t{1} << 63 | 0x15;
  return {{1, 1, 8, {{0, 1}}, f32},
          {4, 2, 64, {{0, 100}, {1, 31}, {2, 32}}, bf16},
          {3, 3, 40, {{0, 0, 1}}, f32},
          {4, 2, 12, {{0, 100}, {0, 101}}, bf16},
          {20, 1, 16, {{0, 33, 7}, {0, 33, 3}}, f32},  // more heads for one key-value head than a block takes
          {6, 2, 72, prompt, bf16},
          {2, 1, 128, {{0, 31, far}, {0, 31, ~uint64_t{0}}}, f32},
          {4, 1, 32, tree(0, 250, 64), f32},                                // paths over the end of a split
          {2, 1, 64, joined(tree(0, 600, 9), {{1, 256}, {2, 257}}), bf16},  // some rows have several splits
          {8, 2, 128, joined(tree(0, 70, 5), tree(1, 40, 20)), bf16},
          {4, 2, 64, {{0, 100}, {1, 31}, {2, 32}}, f16},
          {6, 2, 72, joined(tree(0, 300, 6), {{1, 65}}), f16},
          // Windows: within a tile, over one, with splits that none or only some of the rows see.
          {4, 2, 64, {{0, 100}, {1, 31}, {2, 1}}, f32, 20},
          {2, 1, 64, joined(tree(0, 600, 9), {{1, 256}, {2, 257}, {3, 290}}), bf16, 40},
          {2, 1, 32, joined(tree(0, 250, 64), {{1, 700}, {1, 701}, {1, 702}}), f32, 300},
          // A scale of its own and soft caps, which most of the scores are beyond.
          capped({4, 2, 40, {{0, 100}, {0, 101}, {1, 70, 0b101}}, f32}, 0.4F, 1.5F),
          capped({2, 1, 64, joined(tree(0, 270, 5), {{1, 33}}), bf16, 50}, 0.2F, 1.0F)};
}

TEST(CudaAttend, EqualsItsCpuTwin) {
  for (const Scene& scene : scenes()) {
    const std::vector<float> got = on_device(scene), expected = on_cpu(scene);
    const float bound = scene.element == Element::f32 ? 3e-6F : scene.element == Element::bf16 ? 0x1p-7F : 0x1p-10F;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[i], bound) << scene.heads << " heads of " << scene.size << ", number " << i;
    }
  }
}

TEST(CudaAttend, GivesARowTheSameBitsAloneAndAmongOthers) {
  for (const Scene& scene : scenes()) {
    const std::vector<float> together = on_device(scene);
    const int64_t each = int64_t{scene.heads} * scene.size;
    for (int64_t row = 0; row < std::ssize(scene.rows); row += 3) {
      const auto first = together.begin() + row * each;
      ASSERT_EQ(on_device(scene.only(at(row))), std::vector<float>(first, first + each)) << "row " << row;
    }
  }
}

// The same keys as nodes of a tree, and as committed tokens.
TEST(CudaAttend, GivesANodeTheSameBitsAsTheTokenThatItBecomes) {
  for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
    for (const int32_t before : {30, 64, 255, 300}) {
      Scene scene(2, 1, 64, {{0, before, 0b111}, {0, before + 3}}, element);
      std::copy_n(scene.query.begin(), 128, scene.query.begin() + 128);
      const std::vector<float> out = on_device(scene);
      EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + 128), std::vector<float>(out.begin() + 128, out.end())) << before;
    }
  }
}

TEST(CudaAttend, RefusesHeadsThatItCannotTake) {
  EXPECT_EQ(attend({.cache = {nullptr, 1, 1, 1, 136}, .heads = 1}, nullptr), 1);
  EXPECT_EQ(attend({.cache = {nullptr, 1, 1, 1, 14}, .heads = 1}, nullptr), 1);
  EXPECT_EQ(attend({.cache = {nullptr, 1, 1, 2, 64}, .heads = 3}, nullptr), 1);
}

}  // namespace
}  // namespace slipstream::cuda
