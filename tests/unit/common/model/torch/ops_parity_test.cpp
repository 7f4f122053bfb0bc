// Each op of the torch devices against the cpu device, over random and edge shapes. In f32 only the
// order of sums differs; in bf16 results are rounded to 8 bits of fraction.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "tests/unit/common/model/torch/torch_models.h"
#include "tests/unit/common/model/torch/trial.h"

namespace slipstream {
namespace {

struct Under {
  const char* name;
  Type type;
  bool deterministic;
  double tolerance;      // of a result of about 1
  bool kernels = false;  // our own (torch_models.h), not torch's operations
};
constexpr Under kAll[] = {{"f32", Type::f32, false, 2e-5},
                          {"f32_deterministic", Type::f32, true, 2e-5},
                          {"bf16", Type::bf16, false, 3e-2},
                          {"f16", Type::f16, false, 4e-3},
                          {"f32_kernels", Type::f32, true, 2e-5, true},
                          {"bf16_kernels", Type::bf16, true, 3e-2, true},
                          {"bf16_kernels_fast", Type::bf16, false, 3e-2, true},
                          {"f16_kernels", Type::f16, true, 4e-3, true}};

class OpsParity : public testing::TestWithParam<Under> {
 protected:
  // What `made` computes on both devices. made: prepares a trial and returns its output.
  template <class Make>
  void compare(int32_t rows, const Make& make, const std::string& what) {
    Trial expected(make_cpu_device({.threads = 2, .path = CpuPath::portable}).value(), rows);
    const auto& [name, type, deterministic, tolerance, kernels] = GetParam();
    Trial found(kernels ? on_kernels(2, type, deterministic).value() : torch_cpu(2, type, deterministic).value(), rows);
    const std::vector<float> a = make(expected), b = make(found);
    ASSERT_EQ(a.size(), b.size());
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;  // infinite ones among them
      most = std::max(most, std::abs(double{a[i]} - b[i]) / std::max(1.0, std::abs(double{a[i]})));
    }
    EXPECT_LE(most, GetParam().tolerance) << what << ", " << rows << " rows";
  }
};

constexpr int32_t kRowCounts[] = {1, 2, 7, 8, 9, 33};
constexpr int32_t kColumns[] = {2, 32, 66, 576};

TEST_P(OpsParity, OfEmbed) {
  for (const int32_t rows : kRowCounts) {
    for (const int32_t cols : kColumns) {
      compare(
          rows,
          [&](Trial& trial) {
            const Tensor in = trial.input(cols, 1), out = trial.output(cols);
            trial.body([=](Ops& ops) { ops.put_columns(in, out, 0); });
            trial.run();
            return trial.read(out);
          },
          fmt::format("{} columns", cols));
    }
  }
}

TEST_P(OpsParity, OfPutColumnsAmidOthers) {
  compare(
      5,
      [](Trial& trial) {
        const Tensor left = trial.input(6, 1), right = trial.input(10, 2), out = trial.output(16);
        trial.body([=](Ops& ops) {
          ops.put_columns(right, out, 6);
          ops.put_columns(left, out, 0);
        });
        trial.run();
        return trial.read(out);
      },
      "16 columns of two");
}

TEST_P(OpsParity, OfTheNormWithAndWithoutADelta) {
  for (const int32_t rows : kRowCounts) {
    for (const int32_t cols : kColumns) {
      for (const bool with_delta : {false, true}) {
        compare(
            rows,
            [&](Trial& trial) {
              const Weight* gain = trial.weight(1, cols, 3, Format::f32);
              const Tensor residual = trial.input(cols, 1), delta = trial.input(cols, 2), result = trial.scratch(cols);
              const Tensor out = trial.output(2 * cols);  // the sum is a result, too
              trial.body([=](Ops& ops) {
                ops.add_rms_norm(residual, with_delta ? &delta : nullptr, *gain, 1e-5F, result);
                ops.put_columns(result, out, 0);
                ops.put_columns(residual, out, cols);
              });
              trial.run();
              return trial.read(out);
            },
            fmt::format("{} columns", cols));
      }
    }
  }
}

TEST_P(OpsParity, OfLinear) {
  for (const int32_t rows : kRowCounts) {
    for (const auto& [in_cols, out_cols] : {std::pair{32, 2}, {66, 130}, {576, 192}}) {
      for (const bool with_bias : {false, true}) {
        compare(
            rows,
            [&, in_cols = in_cols, out_cols = out_cols](Trial& trial) {
              // Sums of about 1.
              const Weight* weight =
                  trial.weight(out_cols, in_cols, 3, Format::matrix, 1 / std::sqrt(static_cast<float>(in_cols)));
              const Weight* bias = trial.weight(out_cols, 1, 4, Format::f32);
              const Tensor in = trial.input(in_cols, 1), result = trial.scratch(out_cols), out = trial.output(out_cols);
              trial.body([=](Ops& ops) {
                ops.linear(in, *weight, with_bias ? bias : nullptr, result);
                ops.put_columns(result, out, 0);
              });
              trial.run();
              return trial.read(out);
            },
            fmt::format("{} -> {}", in_cols, out_cols));
      }
    }
  }
}

TEST_P(OpsParity, OfNormsOfSomeHeads) {
  compare(
      9,
      [](Trial& trial) {
        const Weight* gain = trial.weight(1, 8, 3, Format::f32);
        const Tensor in = trial.input(6 * 8, 1), out = trial.output(6 * 8);
        trial.body([=](Ops& ops) {
          ops.norm_heads(in, 1, 3, *gain, 1e-6F);
          ops.put_columns(in, out, 0);
        });
        trial.run();
        return trial.read(out);
      },
      "heads 1 to 3 of 6");
}

TEST_P(OpsParity, OfGatesAndSilus) {
  for (const int32_t rows : kRowCounts) {
    for (const int32_t cols : {1, 31, 64, 1536}) {
      compare(
          rows,
          [&](Trial& trial) {
            const Tensor in = trial.input(2 * cols, 1), gated = trial.scratch(cols), out = trial.output(4 * cols);
            trial.body([=](Ops& ops) {
              ops.silu_gate(in, gated);
              ops.put_columns(gated, out, 0);
              ops.gelu_gate(in, gated);
              ops.put_columns(gated, out, 3 * cols);
              const Tensor sum = in;
              ops.add_silu(in, sum);
              ops.put_columns(sum, out, cols);
            });
            trial.run();
            return trial.read(out);
          },
          fmt::format("{} columns", cols));
    }
  }
}

TEST_P(OpsParity, OfAMapOfColumns) {
  compare(
      3,
      [](Trial& trial) {
        constexpr int32_t kOfWide[] = {9, 2, 5, 7};
        const ColumnMap* map = trial.device().column_map(kOfWide, 11).value();
        const Tensor in = trial.input(4, 1), out = trial.output(11);
        trial.body([=](Ops& ops) { ops.spread_columns(in, *map, nullptr, out); });
        trial.run();
        return trial.read(out);
      },
      "4 of 11");
}

// Two rows have some, in another order, the one between them none.
TEST_P(OpsParity, OfExtraTokens) {
  constexpr int32_t kTokens = 70, kCols = 64;
  compare(
      3,
      [](Trial& trial) {
        constexpr int32_t kOwn[] = {1, 7, 69, 40};
        const ColumnMap* map = trial.device().column_map(kOwn, kTokens).value();
        const Weight* output = trial.weight(kTokens, kCols, 5, Format::matrix, 0.2F);
        const Tensor in = trial.input(kCols, 1), own = trial.input(4, 2);
        const Tensor extra = trial.output(kExtraTokens), out = trial.output(kTokens);
        trial.body([=](Ops& ops) {
          ops.linear_extra(in, *output, extra);
          ops.spread_columns(own, *map, &extra, out);
        });
        std::vector<ExtraToken> tokens(3 * kExtraTokens);
        tokens[0] = {.token = 0, .bonus = 0.5F};
        tokens[1] = {.token = 68};
        tokens[2] = {.token = 33, .bonus = 2};
        tokens[2 * kExtraTokens] = {.token = 68, .bonus = -1};
        tokens[2 * kExtraTokens + 1] = {.token = 2};
        trial.run(tokens);
        return trial.read(out);
      },
      "of 70 tokens");
}

// A prompt of two sequences, then a tree behind each: queries of several kinds over the same cache.
// Heads of 136 columns are beyond our kernels for GPUs: torch computes them.
TEST_P(OpsParity, OfRotationStoreAndAttentionOverPromptsAndTrees) {
  for (const auto& shape : {AttentionShape{1, 1, 4}, AttentionShape{4, 2, 16}, AttentionShape{9, 3, 64},
                            AttentionShape{3, 1, 24}, AttentionShape{2, 1, 136}}) {
    compare(
        64,
        [&](Trial& trial) {
          const int32_t cols = (shape.heads + 2 * shape.kv_heads) * shape.head_size, heads = shape.heads * shape.head_size;
          std::vector<float> frequencies;
          for (int32_t i = 0; i < shape.head_size / 2; ++i) frequencies.push_back(std::pow(0.5F, static_cast<float>(i)));
          const RopeTable* rope = trial.device().rope(frequencies, 1.0F, 160).value();
          KvCache* cache = trial.cache(shape, 8);
          Tensor qkv = trial.input(cols, 1), result = trial.scratch(heads), out = trial.output(heads);
          trial.body([&](Ops& ops) {
            ops.rope_store(qkv, *rope, *cache, 0);
            ops.attend(qkv, *cache, 0, {}, result);
            ops.put_columns(result, out, 0);
          });
          const auto run = [&](Rows& rows) {
            for (int32_t row = 0; row < rows.count(); ++row) rows.token[static_cast<size_t>(row)] = row;
            qkv.rows = result.rows = out.rows = rows.count();
            trial.run(rows.view());
            return trial.read(out, rows.count());
          };
          BlockPool pool(8);
          BlockTable first(pool), second(pool);
          EXPECT_TRUE(first.reserve(50 + 8) && second.reserve(7 + 8));
          Rows prompts(4);
          const std::vector<TokenId> tokens(50);
          prompts.prompt(prompts.sequence_of(first), first, tokens, 0);
          prompts.prompt(prompts.sequence_of(second), second, std::span(tokens).first(7), 0);
          std::vector<float> all = run(prompts);
          Rows trees(4);
          const std::vector<TreeNode> nodes{{0, kRoot}, {0, 0}, {0, 0}, {0, 2}, {0, kRoot}};
          trees.tree(trees.sequence_of(second), second, 7, 0, nodes);
          trees.tree(trees.sequence_of(first), first, 50, 0, nodes);
          trees.moves = {{.from = first.slot(3), .to = second.slot(1)}, {.from = second.slot(1), .to = first.slot(40)}};
          const std::vector<float> of_trees = run(trees);
          all.insert(all.end(), of_trees.begin(), of_trees.end());
          return all;
        },
        fmt::format("{} heads of {} over {}", shape.heads, shape.head_size, shape.kv_heads));
  }
}

// Each row reads what its parent's slot holds, a parent in the same step included.
TEST_P(OpsParity, OfFeaturesOfParents) {
  compare(
      6,
      [](Trial& trial) {
        FeaturePlane* plane = trial.plane(10, 1);
        const Tensor in = trial.input(10, 1), found = trial.scratch(10), out = trial.output(10);
        trial.body([=](Ops& ops) {
          ops.store_features(in, *plane);
          ops.load_features(*plane, found);
          ops.put_columns(found, out, 0);
        });
        StepPlan plan = Trial::plan();
        for (int32_t row = 0; row < 6; ++row)
          plan.add({.token = row, .slot = 2 * row, .parent_slot = row == 0 ? -1 : 2 * (row / 2)});
        trial.run(plan.view());
        return trial.read(out);
      },
      "six rows");
}

// Of a head in another process: rows that the host wrote are read by the step, and those that the
// step stored by the host.
TEST_P(OpsParity, OfFeaturesOfTheHost) {
  compare(
      2,
      [](Trial& trial) {
        FeaturePlane* plane = trial.plane(10, 1);
        const Tensor in = trial.input(10, 1), found = trial.scratch(10), out = trial.output(10);
        trial.body([=](Ops& ops) {
          ops.load_features(*plane, found);
          ops.put_columns(found, out, 0);
          ops.store_features(in, *plane);
        });
        std::vector<float> given;
        for (int i = 0; i < 20; ++i) given.push_back(static_cast<float>(i) / 4);
        EXPECT_TRUE(trial.device().write(*plane, std::vector{7, 2}, given).has_value());
        StepPlan plan = Trial::plan();
        plan.add({.token = 0, .slot = 4, .parent_slot = 2});
        plan.add({.token = 1, .slot = 9, .parent_slot = 7});
        trial.run(plan.view());
        std::vector<float> all = trial.read(out), stored(30);
        EXPECT_EQ(all.front(), given[10]) << "row 0 reads what was written to slot 2";
        EXPECT_TRUE(trial.device().read(*plane, std::vector{9, 2, 4}, stored).has_value());
        all.insert(all.end(), stored.begin(), stored.end());
        return all;
      },
      "two rows");
}

TEST_P(OpsParity, OfWantedRows) {
  compare(
      6,
      [](Trial& trial) {
        const Tensor in = trial.input(10, 1);
        Tensor out = trial.output(10);
        out.rows = 2;
        trial.body([=](Ops& ops) { ops.gather(in, out); });
        StepPlan plan = Trial::plan();
        for (int32_t row = 0; row < 6; ++row) {
          plan.add({.token = row});
          if (row == 1 || row == 4) plan.want({});
        }
        trial.run(plan.view());
        return trial.read(out, 2);
      },
      "two of six");
}

INSTANTIATE_TEST_SUITE_P(, OpsParity, testing::ValuesIn(kAll), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstream
