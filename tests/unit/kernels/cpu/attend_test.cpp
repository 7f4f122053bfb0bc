// Attention of every path that this machine has: against the plainest computation in double
// precision, and of many rows at once against each row alone, to the bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/kernels.h"
#include "tests/unit/kernels/cpu/numbers.h"

namespace slipstream {
namespace {

struct Row {
  int32_t visible;
  uint64_t ancestors;

  // Those of its path, through a window the last ones.
  std::vector<int32_t> positions(int32_t window = 0) const {
    std::vector<int32_t> seen;
    for (int32_t p = 0; p < visible; ++p) seen.push_back(p);
    for (int32_t j = 0; j < kAncestorsMax; ++j) {
      if ((ancestors >> j & 1) != 0) seen.push_back(visible + j);
    }
    if (window > 0 && std::ssize(seen) > window) seen.erase(seen.begin(), seen.end() - window);
    return seen;
  }
};

// What a path keeps of a number.
float kept(CacheFormat format, float value) { return format == CacheFormat::f32 ? value : bf16_to_f32(f32_to_bf16(value)); }

// Rows over a cache whose blocks lie in another order than the positions; what no row sees holds
// NaN, but for keys before the window of a row in the blocks that are read.
struct Scene {
  static constexpr int32_t kBlocks = 8;
  const std::vector<int32_t> blocks{5, 0, 7, 2, 1, 6, 3, 4};
  int32_t heads, size;
  std::vector<Row> rows;
  int32_t window = 0;
  float scale = 0, soft_cap = 0;
  int32_t stride = (size + kLanes - 1) / kLanes * kLanes;
  std::vector<float> keys = normal(int64_t{kBlocks} * kCacheRows * size, 1),
                     values = normal(int64_t{kBlocks} * kCacheRows * size, 3),
                     query = normal(int64_t{heads} * size * std::ssize(rows), 2);

  size_t element(int32_t p, int32_t d) const { return at(p * size + d); }

  // As the path's kernels read it; what the scene says nothing of is zero.
  std::vector<std::byte> cache(const CacheLayout& layout) const {
    std::vector<std::byte> bytes(at(kBlocks * layout.block_bytes()));
    const auto put = [&](int64_t at, float value) {
      const uint16_t half = f32_to_bf16(value);
      const bool whole = layout.format == CacheFormat::f32;
      const size_t size = whole ? sizeof(value) : sizeof(half);
      std::memcpy(bytes.data() + static_cast<size_t>(at) * size, whole ? static_cast<const void*>(&value) : &half, size);
    };
    for (int32_t p = 0; p < kBlocks * kCacheRows; ++p) {
      const int64_t block = blocks[at(p / 32)] * layout.block_bytes() / layout.element_bytes();
      for (int32_t d = 0; d < size; ++d) {
        put(block + layout.key(p % 32, d), keys[element(p, d)]);
        put(block + layout.value(p % 32, d), values[element(p, d)]);
      }
    }
    return bytes;
  }

  void hide_what_nobody_sees() {
    std::vector<bool> seen(at(kBlocks * kCacheRows));
    int32_t first = kBlocks * kCacheRows;
    for (const Row& row : rows) first = std::min({first, row.positions(window).front(), row.visible});
    first = first / kCacheRows * kCacheRows;
    for (const Row& row : rows) {
      for (const int32_t p : row.positions()) seen[at(p)] = p >= first;
    }
    for (int32_t p = 0; p < kBlocks * kCacheRows; ++p) {
      for (int32_t d = 0; d < size && !seen[at(p)]; ++d) keys[element(p, d)] = values[element(p, d)] = NAN;
    }
  }

  // Rows first .. first + count - 1, each part of the work done in so many pieces. Nothing may be
  // written before the scores.
  std::vector<float> attend(const Kernels& k, int32_t first, int32_t count, int32_t pieces) const {
    std::vector<int32_t> visible;
    std::vector<uint64_t> ancestors;
    for (int32_t i = first; i < first + count; ++i) {
      visible.push_back(rows[at(i)].visible);
      ancestors.push_back(rows[at(i)].ancestors);
    }
    const int64_t queries = int64_t{count} * heads, scores_stride = kBlocks * kCacheRows + kLanes;
    const int64_t guard = 4 * kCacheRows * queries;  // a tree's positions before the first block, in either layout
    std::vector<float> out(at(queries * size)), own(at(queries * size)), scores(at(guard + queries * scores_stride), NAN),
        sums(at(queries * stride)), totals(at(queries));
    std::fill_n(scores.begin(), guard, 1.0F);
    const CacheLayout layout{.format = k.cache, .head_size = size, .value_stride = stride};
    const std::vector<std::byte> held = cache(layout);
    AttendArgs args{.cache = held.data(),
                    .block_stride = layout.block_bytes(),
                    .value_stride = stride,
                    .blocks = blocks.data(),
                    .visible = visible.data(),
                    .ancestors = ancestors.data(),
                    .query = query.data() + int64_t{first} * heads * size,
                    .query_stride = int64_t{heads} * size,
                    .out = out.data(),
                    .out_stride = int64_t{heads} * size,
                    .rows = count,
                    .heads = heads,
                    .head_size = size,
                    .window = window,
                    .scale = scale,
                    .soft_cap = soft_cap,
                    .queries = own.data(),
                    .scores = scores.data() + guard,
                    .scores_stride = scores_stride,
                    .sums = sums.data(),
                    .totals = totals.data()};
    const auto split = [pieces](int32_t total, int32_t unit, const auto& part) {
      const int32_t units = (total + unit - 1) / unit;
      for (int32_t i = pieces - 1; i >= 0; --i) {  // in whatever order
        const int32_t begin = units * i / pieces * unit, end = std::min(total, units * (i + 1) / pieces * unit);
        if (begin < end) part(begin, end);
      }
    };
    args.first_block = attend_first_block(args);
    const int32_t before = args.first_block;
    k.attend_queries(args);
    split(attend_blocks(args) - before, 1,
          [&](int32_t begin, int32_t end) { k.attend_scores(args, before + begin, before + end); });
    split(args.rows * heads, 1, [&](int32_t begin, int32_t end) { k.attend_weights(args, begin, end); });
    split(size, kLanes, [&](int32_t begin, int32_t end) { k.attend_values(args, begin, end); });
    EXPECT_EQ(std::count(scores.begin(), scores.begin() + guard, 1.0F), guard) << "window " << window;
    return out;
  }
};

std::vector<Scene> scenes() {
  const uint64_t far = uint64_t{1} << 63 | 0x15;
  return {
      {.heads = 1, .size = 8, .rows = {{1, 0}}},
      {.heads = 3, .size = 64, .rows = {{100, 0}}},
      {.heads = 4, .size = 16, .rows = {{0, 1}}},
      {.heads = 7, .size = 128, .rows = {{31, far}}},
      // The longest end of a path, and a head of an odd number of pairs.
      {.heads = 2, .size = 34, .rows = {{31, ~uint64_t{0}}}},
      // A tree behind 64 positions, and one that crosses a block; more rows than a tile has,
      // and heads that fill none.
      {.heads = 3, .size = 64, .rows = {{64, 0b1}, {64, 0b11}, {64, 0b101}, {64, 0b1011}, {64, 0b10001}, {64, 0b110001}}},
      {.heads = 2, .size = 20, .rows = {{33, 0b1}, {33, 0b11}, {33, 0b1011}}},
      {.heads = 5, .size = 80, .rows = {{159, 1}, {159, 3}, {159, 5}, {159, 9}, {159, 17}}},
      // Neighbours in a prompt: each sees one more, over the end of a block and from the very
      // first on.
      {.heads = 3, .size = 64, .rows = {{93, 0}, {94, 0}, {95, 0}, {96, 0}, {97, 0}, {98, 0}, {99, 0}, {100, 0}}},
      {.heads = 9, .size = 100, .rows = {{1, 0}, {2, 0}, {3, 0}}},
      {.heads = 1, .size = 96, .rows = {{1, 0}, {64, 0}, {200, 0}, {32, 7}}},
      {.heads = 20, .size = 32, .rows = {{95, 0b1}, {95, 0b11}, {95, 0b101}}},
      // Windows: of one row, that begin and end within a block and at its edges; of a prompt's
      // rows, over such an edge; longer than what is there.
      {.heads = 3, .size = 64, .rows = {{200, 0}}, .window = 70},
      {.heads = 2, .size = 34, .rows = {{160, 0}}, .window = 64},
      {.heads = 1, .size = 16, .rows = {{97, 0}}, .window = 1},
      {.heads = 2, .size = 80, .rows = {{129, 0}, {130, 0}, {131, 0}, {132, 0}}, .window = 33},
      {.heads = 3, .size = 64, .rows = {{93, 0}, {94, 0}, {95, 0}, {96, 0}, {97, 0}, {98, 0}}, .window = 32},
      {.heads = 3, .size = 64, .rows = {{61, 0}, {62, 0}, {63, 0}, {64, 0}}, .window = 63},
      {.heads = 1, .size = 96, .rows = {{1, 0}, {64, 0}, {200, 0}, {32, 7}}, .window = 40},
      // Of a tree: before it, at its root, and within it.
      {.heads = 3, .size = 64, .rows = {{64, 0b1}, {64, 0b11}, {64, 0b101}, {64, 0b1011}, {64, 0b110001}}, .window = 30},
      {.heads = 2, .size = 20, .rows = {{65, 0b1}, {65, 0b11}, {65, 0b1011}}, .window = 2},
      {.heads = 4, .size = 32, .rows = {{40, ~uint64_t{0}}, {40, 1}, {40, far}}, .window = 40},
      {.heads = 2, .size = 64, .rows = {{0, 0xFF}, {0, 0x1}}, .window = 3},
      {.heads = 2, .size = 64, .rows = {{97, 0}, {40, 0xAAAA'AAAA'AAAA'AAAA}}, .window = 8},
      // Soft caps, which many scores are beyond, and a scale of its own: of prompts, of trees,
      // through windows.
      {.heads = 3, .size = 64, .rows = {{100, 0}, {101, 0}, {102, 0}}, .soft_cap = 1},
      {.heads = 2, .size = 256, .rows = {{64, 0b1}, {64, 0b11}, {64, 0b101}}, .scale = 0.09F, .soft_cap = 1.5},
      {.heads = 4, .size = 32, .rows = {{40, ~uint64_t{0}}, {40, 1}, {40, far}}, .window = 40, .soft_cap = 0.5},
      {.heads = 2, .size = 80, .rows = {{129, 0}, {130, 0}, {131, 0}, {132, 0}}, .window = 33, .scale = 0.2F, .soft_cap = 2},
      {.heads = 2, .size = 20, .rows = {{33, 0b1}, {33, 0b11}, {33, 0b1011}}, .scale = 0.1F}};
}

class Attend : public testing::TestWithParam<CpuPath> {
 protected:
  const Kernels& k = kernels(GetParam());
};

TEST_P(Attend, IsSoftmaxOverWhatEachRowSees) {
  std::vector<Scene> all = scenes();
  const double bound = k.cache == CacheFormat::f32 ? 3e-6 : 0.01;  // queries and weights, of about 1, are rounded to bf16, too
  for (Scene& scene : all) {
    scene.hide_what_nobody_sees();
    const auto [heads, size] = std::pair(scene.heads, scene.size);
    const std::vector<float> out = scene.attend(k, 0, static_cast<int32_t>(scene.rows.size()), 1);
    for (size_t i = 0; i < scene.rows.size() * at(heads); ++i) {
      const std::vector<int32_t> positions = scene.rows[i / at(heads)].positions(scene.window);
      std::vector<double> weights;
      double total = 0;
      for (const int32_t p : positions) {
        double score = 0;
        for (int32_t d = 0; d < size; ++d) {
          score += double{scene.query[i * at(size) + at(d)]} * kept(k.cache, scene.keys[scene.element(p, d)]);
        }
        score *= scene.scale != 0 ? double{scene.scale} : 1 / std::sqrt(static_cast<double>(size));
        if (scene.soft_cap > 0) score = scene.soft_cap * std::tanh(score / scene.soft_cap);
        total += weights.emplace_back(std::exp(score));
      }
      for (int32_t d = 0; d < size; ++d) {
        double exact = 0;
        for (size_t p = 0; p < positions.size(); ++p) {
          exact += weights[p] / total * kept(k.cache, scene.values[scene.element(positions[p], d)]);
        }
        EXPECT_NEAR(out[i * at(size) + at(d)], exact, bound) << heads << " heads of " << size << ", query " << i;
      }
    }
  }
}

TEST_P(Attend, GivesARowTheSameBitsAloneAmongOthersAndInPieces) {
  const std::vector<Scene> all = scenes();
  for (const Scene& scene : all) {
    const auto rows = static_cast<int32_t>(scene.rows.size());
    const std::vector<float> together = scene.attend(k, 0, rows, 1);
    EXPECT_EQ(scene.attend(k, 0, rows, 3), together) << "in three pieces";
    for (int32_t row = 0; row < rows; ++row) {
      const auto begin = together.begin() + int64_t{row} * scene.heads * scene.size;
      EXPECT_EQ(scene.attend(k, row, 1, 1), std::vector<float>(begin, begin + int64_t{scene.heads} * scene.size))
          << "row " << row;
    }
  }
}

// Queries of zeros weigh all keys alike, and small integers are exact in every format: a key that
// is left out, or counted twice, shows.
TEST_P(Attend, IsTheExactMeanWhereAllKeysWeighTheSame) {
  std::vector<Scene> all = scenes();
  for (Scene& scene : all) {
    std::ranges::fill(scene.query, 0.0F);
    for (float& value : scene.values) value = std::round(4 * value);
    const std::vector<float> out = scene.attend(k, 0, static_cast<int32_t>(scene.rows.size()), 1);
    for (size_t i = 0; i < scene.rows.size() * at(scene.heads); ++i) {
      const std::vector<int32_t> positions = scene.rows[i / at(scene.heads)].positions(scene.window);
      for (int32_t d = 0; d < scene.size; ++d) {
        float sum = 0;
        for (const int32_t p : positions) sum += scene.values[scene.element(p, d)];
        EXPECT_EQ(out[i * at(scene.size) + at(d)], sum / static_cast<float>(positions.size())) << "query " << i;
      }
    }
  }
}

// The same keys, once as nodes of a tree and once as committed tokens.
TEST_P(Attend, GivesANodeTheSameBitsAsTheTokenThatItBecomes) {
  for (const int32_t window : {0, 40, 35, 2}) {
    Scene scene{.heads = 3, .size = 64, .rows = {{64, 0b111}, {67, 0}}, .window = window};
    const auto half = std::ssize(scene.query) / 2;
    std::copy_n(scene.query.begin(), half, scene.query.begin() + half);
    const std::vector<float> out = scene.attend(k, 0, 2, 1);
    EXPECT_EQ(std::vector<float>(out.begin(), out.begin() + std::ssize(out) / 2),
              std::vector<float>(out.begin() + std::ssize(out) / 2, out.end()))
        << "window " << window;
  }
}

// However large the numbers before the window of a row alone are, and the scores that they give.
TEST_P(Attend, HasTheSameBitsWhateverLiesBeforeAWindow) {
  for (const Scene& scene : scenes()) {
    if (scene.window == 0) continue;
    Scene row = scene;
    row.rows = {scene.rows.back()};
    const std::vector<float> before = row.attend(k, 0, 1, 1);
    std::vector<int32_t> all = row.rows[0].positions(), seen = row.rows[0].positions(row.window);
    for (const int32_t p : all) {
      if (std::ranges::find(seen, p) != seen.end()) continue;
      for (int32_t d = 0; d < row.size; ++d) {
        row.keys[row.element(p, d)] = 1000 * row.query[at(d)];
        row.values[row.element(p, d)] = 1e6F;
      }
    }
    EXPECT_EQ(row.attend(k, 0, 1, 1), before) << "window " << row.window;
  }
}

// A window as long as the path is none, to the bit.
TEST_P(Attend, SeesThroughAWindowThatIsLongEnoughWhatItSeesWithoutOne) {
  for (const Scene& scene : scenes()) {
    if (scene.window != 0) continue;
    Scene through = scene;
    for (const Row& row : scene.rows) {
      through.window = std::max(through.window, static_cast<int32_t>(std::ssize(row.positions())));
    }
    const auto rows = static_cast<int32_t>(scene.rows.size());
    EXPECT_EQ(through.attend(k, 0, rows, 1), scene.attend(k, 0, rows, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, Attend, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace slipstream
