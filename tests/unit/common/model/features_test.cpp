// What a draft head reads of its target: the inputs of the layers that are tapped.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const std::vector<TokenId> kPrompt{1, 17, 42, 9, 11, 5, 60, 33};

// The tiny model with taps, and one sequence that it computes in passes.
class Tapped {
 public:
  explicit Tapped(std::vector<int32_t> taps)
      : model_(load_alone(test_data("tiny-llama"), {}, {.cache_blocks = 4, .taps = std::move(taps)}).value()) {
    EXPECT_TRUE(blocks_.reserve(static_cast<int32_t>(kPrompt.size())));
  }
  void pass(size_t begin, size_t end) {
    Rows rows(4);
    rows.prompt(rows.sequence_of(blocks_), blocks_, std::span(kPrompt).subspan(begin, end - begin),
                static_cast<int32_t>(begin));
    const auto ran = model_.run(rows.view());
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
  }
  std::vector<float> features() const { return {model_.features().begin(), model_.features().end()}; }
  const LanguageModel& model() const { return model_; }

 private:
  LanguageModel model_;
  BlockPool pool_{4};
  BlockTable blocks_{pool_};
};

TEST(Features, AreThoseOfEachRowInAnyPass) {
  Tapped whole({0, 1}), parts({0, 1});
  whole.pass(0, kPrompt.size());
  parts.pass(0, 3);
  std::vector<float> pieces = parts.features();
  parts.pass(3, kPrompt.size());
  const std::vector<float> rest = parts.features();
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  ASSERT_EQ(pieces.size(), kPrompt.size() * 2 * static_cast<size_t>(whole.model().config().hidden));
  EXPECT_EQ(whole.features(), pieces);
}

TEST(Features, OfTheFirstLayerAreTheEmbeddings) {
  Tapped tapped({0});
  tapped.pass(0, kPrompt.size());
  const LlamaConfig& config = tapped.model().config();
  const Checkpoint checkpoint = Checkpoint::open(test_data("tiny-llama")).value();
  const HostMatrix table = checkpoint.matrix("model.embed_tokens.weight", config.vocabulary, config.hidden).value();
  std::vector<float> row(static_cast<size_t>(config.hidden)), embeddings;
  for (const TokenId token : kPrompt) {
    read_row(table, token, row);
    embeddings.insert(embeddings.end(), row.begin(), row.end());
  }
  EXPECT_THAT(tapped.features(), ElementsAreArray(embeddings));
}

TEST(Features, ChangeNoLogits) {
  Tapped plain({});
  plain.pass(0, kPrompt.size());
  const std::vector<float> logits(plain.model().logits().begin(), plain.model().logits().end());
  for (const std::vector<int32_t>& taps : {std::vector<int32_t>{0, 1}, {plain.model().config().layers}}) {
    Tapped tapped(taps);
    tapped.pass(0, kPrompt.size());
    EXPECT_THAT(tapped.model().logits(), ElementsAreArray(logits));
  }
}

// The head of the model reads the tapped row behind the last layer, through the final norm.
TEST(Features, BehindTheLastLayerGiveTheLogits) {
  const LlamaConfig config = read_llama_config(test_data("tiny-llama")).value();
  Tapped tapped({config.layers});
  tapped.pass(0, kPrompt.size());
  const auto hidden = static_cast<size_t>(config.hidden);
  const Checkpoint checkpoint = Checkpoint::open(test_data("tiny-llama")).value();
  std::vector<float> gain(hidden), weights(hidden);
  read_row(checkpoint.matrix("model.norm.weight", 1, config.hidden).value(), 0, gain);
  const HostMatrix head =
      checkpoint
          .matrix(config.tied_embeddings ? "model.embed_tokens.weight" : "lm_head.weight", config.vocabulary, config.hidden)
          .value();
  const std::vector<float> row = tapped.features();
  double squares = 0;
  for (size_t i = 0; i < hidden; ++i) squares += double{row[i]} * row[i];
  const double scale = 1 / std::sqrt(squares / static_cast<double>(hidden) + config.rms_eps);
  for (const int32_t token : {0, 7, config.vocabulary - 1}) {
    read_row(head, token, weights);
    double logit = 0;
    for (size_t i = 0; i < hidden; ++i) logit += row[i] * scale * gain[i] * weights[i];
    EXPECT_NEAR(logit, tapped.model().logits()[static_cast<size_t>(token)], 0.02) << "the kernels round activations to bf16";
  }
}

TEST(Features, AreTappedAtLayersThatThereAre) {
  const auto refusal = [](std::vector<int32_t> taps) {
    const auto loaded = load_alone(test_data("tiny-llama"), {}, {.cache_blocks = 4, .taps = std::move(taps)});
    return loaded ? "loaded" : loaded.error().message;
  };
  EXPECT_THAT(refusal({99}), HasSubstr("layer 99 cannot be tapped"));
  EXPECT_THAT(refusal({-1}), HasSubstr("layer -1 cannot be tapped"));
  EXPECT_THAT(refusal({1, 1}), HasSubstr("taps ascend"));
}

}  // namespace
}  // namespace slipstream
