// The unrolled forward pass beside rows that are computed one by one, as a server would draft.
#include "tools/train/draft_head.h"

#include <cmath>
#include <functional>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "common/checkpoint/rope_frequencies.h"

namespace slipstream::train {
namespace {

using Vector = std::vector<double>;

const HeadConfig kConfig{.target = {.hidden = 16,
                                    .intermediate = 24,
                                    .layers = 3,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .head_size = 6,
                                    .vocabulary = 40,
                                    .context_max = 64,
                                    .rope_theta = 100.0F},
                         .taps = {0, 1, 2},
                         .vocabulary = {0, 3, 5, 9, 11, 20, 39}};
constexpr int64_t kTokens = 11;
constexpr int kSteps = 4;

Vector row_of(const at::Tensor& matrix, int64_t row) {
  const at::Tensor values = matrix[row].contiguous();
  return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

// One row of the head at a time, in plain loops.
class NaiveHead {
 public:
  explicit NaiveHead(const Weights& weights) : weights_(weights) {}

  struct Row {
    Vector key, value, out;
  };

  Vector product(const char* name, const Vector& x) const {
    const at::Tensor& matrix = weights_.at(name);
    Vector result;
    for (int64_t i = 0; i < matrix.size(0); ++i) {
      const Vector weights = row_of(matrix, i);
      double sum = 0;
      for (size_t j = 0; j < x.size(); ++j) sum += weights[j] * x[j];
      result.push_back(sum);
    }
    return result;
  }
  Vector normed(const char* gain, const Vector& x) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + double{kConfig.target.rms_eps});
    Vector result;
    for (size_t i = 0; i < x.size(); ++i)
      result.push_back(x[i] * scale * weights_.at(gain)[static_cast<int64_t>(i)].item<double>());
    return result;
  }
  // The row at a position, which sees `seen` and itself.
  Row row(const Vector& residual, const Vector& embedding, int64_t position, const std::vector<const Row*>& seen) const {
    Vector input = normed("midlayer.input_layernorm.weight", embedding);
    for (const double value : normed("midlayer.hidden_norm.weight", residual)) input.push_back(value);
    Row own{.key = rotated(product("midlayer.self_attn.k_proj.weight", input), position),
            .value = product("midlayer.self_attn.v_proj.weight", input),
            .out = {}};
    std::vector<const Row*> all = seen;
    all.push_back(&own);
    const Vector attended = attend(rotated(product("midlayer.self_attn.q_proj.weight", input), position), all);
    const Vector mixed = sum(residual, product("midlayer.self_attn.o_proj.weight", attended));
    const Vector inside = normed("midlayer.post_attention_layernorm.weight", mixed);
    Vector gate = product("midlayer.mlp.gate_proj.weight", inside);
    const Vector up = product("midlayer.mlp.up_proj.weight", inside);
    for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    own.out = sum(mixed, product("midlayer.mlp.down_proj.weight", gate));
    return own;
  }

 private:
  static Vector sum(Vector a, const Vector& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static Vector rotated(Vector heads, int64_t position) {
    const std::vector<float> frequencies = rope_frequencies(kConfig.target);
    const size_t half = frequencies.size();
    for (size_t head = 0; head < heads.size(); head += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position) * double{frequencies[i]};
        double &low = heads[head + i], &high = heads[head + half + i];
        const double before = low;
        low = before * std::cos(angle) - high * std::sin(angle);
        high = high * std::cos(angle) + before * std::sin(angle);
      }
    }
    return heads;
  }
  static Vector attend(const Vector& query, const std::vector<const Row*>& seen) {
    const auto size = static_cast<size_t>(kConfig.target.head_size);
    const auto shared = static_cast<size_t>(kConfig.target.heads / kConfig.target.kv_heads);
    Vector result(query.size());
    for (size_t head = 0; head * size < query.size(); ++head) {
      const size_t from = head / shared * size;
      Vector weights;
      double total = 0;
      for (const Row* row : seen) {
        double score = 0;
        for (size_t i = 0; i < size; ++i) score += query[head * size + i] * row->key[from + i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
        total += weights.back();
      }
      for (size_t at = 0; at < seen.size(); ++at) {
        for (size_t i = 0; i < size; ++i) result[head * size + i] += weights[at] / total * seen[at]->value[from + i];
      }
    }
    return result;
  }

  const Weights& weights_;
};

class UnrolledHead : public testing::Test {
 protected:
  UnrolledHead() {
    // Large enough that attention is far from even.
    for (const Parameter& parameter : weights_.all()) at::Tensor(parameter.value).mul_(parameter.spec.is_vector() ? 1.3 : 12);
  }
  HeadInput input(int64_t first) const {
    return {.features = features_.unsqueeze(0), .embeddings = embeddings_.unsqueeze(0), .first = first};
  }
  Vector fused(const NaiveHead& naive, int64_t token) const {
    if (token < 0) return Vector(static_cast<size_t>(kConfig.target.hidden));
    return naive.product("fc.weight", row_of(features_, token));
  }
  // out_s of row i: the rows before i - s read features, and the last s + 1 rows are those of a
  // draft.
  Vector drafted(const NaiveHead& naive, int64_t row, int64_t step) const {
    std::vector<NaiveHead::Row> rows;
    rows.reserve(static_cast<size_t>(row) + 1);  // they are pointed to
    std::vector<const NaiveHead::Row*> seen;
    for (int64_t i = 0; i <= row; ++i) {
      const bool deep = i > row - step;
      rows.push_back(naive.row(deep ? rows.back().out : fused(naive, i - 1), row_of(embeddings_, i), i, seen));
      seen.push_back(&rows.back());
    }
    return rows.back().out;
  }

  const at::NoGradGuard no_gradients_;
  const Weights weights_ = Weights::random(head_tensors(kConfig), 1, 7);
  const at::Tensor features_ = at::randn({kTokens, kConfig.width()}), embeddings_ = at::randn({kTokens, kConfig.target.hidden});
};

TEST_F(UnrolledHead, HasTheRowsOfOneDraftAfterTheOther) {
  const DraftHead head(kConfig, weights_, kTokens, at::kFloat);
  const NaiveHead naive(weights_);
  for (const int64_t first : {int64_t{0}, int64_t{4}}) {
    const std::vector<at::Tensor> outs = head.unroll(input(first), kSteps);
    ASSERT_EQ(outs.size(), static_cast<size_t>(kSteps));
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int64_t row = first + step; row < kTokens; ++row) {
        const Vector expected = drafted(naive, row, step), got = row_of(outs[static_cast<size_t>(step)][0], row - first);
        for (size_t i = 0; i < expected.size(); ++i) {
          EXPECT_NEAR(got[i], expected[i], 2e-3 * (1 + std::abs(expected[i]))) << "row " << row << " of step " << step;
        }
      }
    }
  }
}

TEST_F(UnrolledHead, DoesNotReadTokensBehindItsRow) {
  const DraftHead head(kConfig, weights_, kTokens, at::kFloat);
  const std::vector<at::Tensor> before = head.unroll(input(0), kSteps);
  features_.narrow(0, 6, kTokens - 6).add_(1);
  embeddings_.narrow(0, 7, kTokens - 7).add_(1);
  const std::vector<at::Tensor> after = head.unroll(input(0), kSteps);
  for (size_t step = 0; step < before.size(); ++step) {
    EXPECT_TRUE(before[step].narrow(1, 0, 7).equal(after[step].narrow(1, 0, 7))) << step;
    EXPECT_FALSE(before[step].narrow(1, 7, 1).equal(after[step].narrow(1, 7, 1))) << step;
  }
}

// A shorter chat is filled up behind its end, with whatever numbers.
TEST_F(UnrolledHead, ComputesChatsTogetherAsEachAlone) {
  const DraftHead head(kConfig, weights_, kTokens, at::kFloat);
  constexpr int64_t kShort = 8, kFirst = 3;
  const HeadInput longer{.features = at::randn({1, kTokens, kConfig.width()}),
                         .embeddings = at::randn({1, kTokens, kConfig.target.hidden}),
                         .first = kFirst};
  const HeadInput together{.features = at::cat({input(0).features, longer.features}),
                           .embeddings = at::cat({input(0).embeddings, longer.embeddings}),
                           .first = kFirst};
  const HeadInput shorter{.features = input(0).features.narrow(1, 0, kShort),
                          .embeddings = input(0).embeddings.narrow(1, 0, kShort),
                          .first = kFirst};
  const auto both = head.unroll(together, kSteps), first = head.unroll(shorter, kSteps), second = head.unroll(longer, kSteps);
  for (size_t step = 0; step < both.size(); ++step) {
    ASSERT_EQ(both[step].sizes(), (std::vector<int64_t>{2, kTokens - kFirst, kConfig.target.hidden}));
    EXPECT_TRUE(both[step][0].narrow(0, 0, kShort - kFirst).allclose(first[step][0], 1e-4, 1e-4)) << step;
    EXPECT_TRUE(both[step][1].allclose(second[step][0], 1e-4, 1e-4)) << step;
  }
}

TEST_F(UnrolledHead, GivesLogitsOfItsNormedRows) {
  const DraftHead head(kConfig, weights_, kTokens, at::kFloat);
  const at::Tensor out = head.unroll(input(0), 1)[0][0];
  const NaiveHead naive(weights_);
  const Vector expected = naive.product("lm_head.weight", naive.normed("norm.weight", row_of(out, 5)));
  const Vector got = row_of(head.logits(head.normed(out), head.output()), 5);
  ASSERT_EQ(got.size(), kConfig.vocabulary.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-2);
}

}  // namespace
}  // namespace slipstream::train
