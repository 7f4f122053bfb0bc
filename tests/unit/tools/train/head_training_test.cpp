// The training of a head for a tiny random target, from its collected features.
#include "tools/train/head_training.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include "tests/unit/common/model/rows.h"
#include "tests/unit/tools/train/tiny_features.h"
#include "tools/train/head_folder.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

const Conditions kConditions{{"--seed", "1"}};

class HeadTrainingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { documents_ = new std::vector<CollectedDocument>(collected(random_chats(200))); }
  static void TearDownTestSuite() { delete documents_; }
  HeadTrainingTest() {
    write_features(folder_.path(), *documents_);
    data_ = HeadData::open(folder_.path(), kTokenizer, 20).value();
    config_ = {.target = tiny_config(), .taps = {0, 1}, .vocabulary = frequent_tokens(data_->train(), 64, 48)};
    scales_ = feature_scales(data_->train(), config_.width());
    target_ = HeadTarget::load(tiny_target(), config_).value();
  }
  HeadTraining training(const HeadTrainingSettings& settings) const {
    return HeadTraining(config_, first_head_weights(config_, target_, scales_, 1),
                        HeadExamples(config_, target_, scales_, settings.unroll), *data_, settings);
  }
  static void run(HeadTraining& training, int64_t until) {
    while (training.steps_done() < until) ASSERT_TRUE(training.step().has_value());
  }
  static bool same_bits(const HeadTraining& a, const HeadTraining& b) {
    for (const Parameter& parameter : a.weights().all()) {
      if (!parameter.value.equal(b.weights().at(parameter.spec.name))) return false;
    }
    return true;
  }

  static std::vector<CollectedDocument>* documents_;
  TestFolder folder_;
  std::optional<HeadData> data_;
  HeadConfig config_;
  std::vector<float> scales_;
  HeadTarget target_;
};
std::vector<CollectedDocument>* HeadTrainingTest::documents_ = nullptr;

// The target's likeliest tokens are many, and none of them is likely often.
TEST_F(HeadTrainingTest, DraftsFarBetterThanChanceAfterSomeSteps) {
  std::vector<int64_t> counts(64);
  int64_t all = 0;
  for (const FeatureDocument& document : data_->held_out()) {
    for (const TokenId choice : document.choices.subspan(3)) ++counts[static_cast<size_t>(choice)], ++all;
  }
  const double most_frequent = static_cast<double>(std::ranges::max(counts)) / static_cast<double>(all);
  HeadTraining head = training({.steps = 150, .batch = 8, .learning_rate = 0.003, .warmup_steps = 10});
  const HeldOut before = head.held_out(10);
  run(head, 150);
  const HeldOut after = head.held_out(10);
  EXPECT_GT(after.depths[0].rate(), most_frequent + 0.25) << text_of(after);
  EXPECT_GT(after.depths[0].rate(), before.depths[0].rate() + 0.25) << text_of(before);
  EXPECT_LT(after.loss, before.loss);
}

TEST_F(HeadTrainingTest, GoesOnFromACheckpointToTheSameBits) {
  for (const bool bf16 : {false, true}) {
    const HeadTrainingSettings settings{.steps = 30, .batch = 3, .warmup_steps = 5, .bf16 = bf16};
    HeadTraining whole = training(settings), first = training(settings), second = training(settings);
    run(whole, 30);
    run(first, 17);
    ASSERT_TRUE(first.save(folder_ / "checkpoint", kConditions).has_value());
    ASSERT_TRUE(second.restore(folder_ / "checkpoint", kConditions).has_value());
    EXPECT_EQ(second.steps_done(), 17);
    EXPECT_TRUE(same_bits(first, second));
    EXPECT_FALSE(same_bits(first, whole));
    run(second, 30);
    EXPECT_TRUE(same_bits(whole, second)) << bf16;
  }
}

TEST_F(HeadTrainingTest, LeavesTheOutputHeadAsItIsIfItIsFrozen) {
  const HeadTrainingSettings settings{.steps = 5, .batch = 3, .warmup_steps = 1, .freeze_output = true};
  HeadTraining frozen = training(settings);
  run(frozen, 5);
  EXPECT_TRUE(frozen.weights().at("lm_head.weight").equal(target_.output));
  EXPECT_FALSE(frozen.weights().at("fc.weight").equal(training(settings).weights().at("fc.weight")));
  HeadTraining free = training({.steps = 5, .batch = 3, .warmup_steps = 1});
  run(free, 5);
  EXPECT_FALSE(free.weights().at("lm_head.weight").equal(target_.output));
}

TEST_F(HeadTrainingTest, LearnsTheServedDistributionRestrictedToTheDraftVocabulary) {
  const at::NoGradGuard no_gradients;
  const HeadExamples examples(config_, target_, scales_, 2);
  const FeatureDocument& document = data_->held_out()[0];
  const HeadExample example = examples.of(document);
  // The distribution is that of the served target's logits, at the draft vocabulary alone.
  auto model = load_alone(tiny_target()).value();
  BlockPool pool(4);
  BlockTable blocks(pool);
  ASSERT_TRUE(blocks.reserve(static_cast<int32_t>(document.tokens.size())));
  Rows plan(4);
  plan.prompt(plan.sequence_of(blocks), blocks, document.tokens, 0);
  ASSERT_TRUE(model.run(plan.view()).has_value());
  for (int64_t row = example.answer; row < example.rows(); ++row) {
    const auto logits = model.logits().subspan(static_cast<size_t>(example.input.first + row) * 64, 64);
    double total = 0;
    for (const TokenId token : config_.vocabulary) total += std::exp(double{logits[static_cast<size_t>(token)]});
    for (size_t i = 0; i < config_.vocabulary.size(); ++i) {
      const double expected = std::exp(double{logits[static_cast<size_t>(config_.vocabulary[i])]}) / total;
      EXPECT_NEAR(example.probability[row][static_cast<int64_t>(i)].item<double>(), expected, 0.02 * expected + 1e-4);
    }
    const int64_t choice = example.choice[row].item<int64_t>();
    const TokenId likeliest = document.choices[static_cast<size_t>(example.input.first + row)];
    const auto found = std::ranges::find(config_.vocabulary, likeliest);
    EXPECT_EQ(choice, found == config_.vocabulary.end() ? -1 : found - config_.vocabulary.begin());
  }
}

TEST_F(HeadTrainingTest, LearnsNothingFromPromptsOrFromChoicesThatItCannotDraft) {
  const HeadExamples examples(config_, target_, scales_, 4);
  for (const FeatureDocument& document : data_->held_out()) {
    int64_t learnable = 0;
    for (size_t row = 3; row + 1 < document.tokens.size(); ++row) {
      learnable += std::ranges::binary_search(config_.vocabulary, document.choices[row]) ? 1 : 0;
    }
    EXPECT_EQ(examples.learnable_rows(document), learnable);
  }
}

TEST_F(HeadTrainingTest, RefusesACheckpointOfOtherConditions) {
  HeadTraining head = training({.steps = 5, .batch = 3});
  ASSERT_TRUE(head.save(folder_ / "checkpoint", kConditions).has_value());
  const auto restored = head.restore(folder_ / "checkpoint", {{"--seed", "2"}});
  ASSERT_FALSE(restored.has_value());
  EXPECT_THAT(restored.error().message, HasSubstr("--seed = 1"));
}

TEST_F(HeadTrainingTest, ExportsAHeadThatIsReadAgain) {
  HeadTraining head = training({.steps = 3, .batch = 3, .warmup_steps = 1});
  run(head, 3);
  const HeadFile file{.config = config_, .scales = scales_, .target_weights = 0xAB};
  ASSERT_TRUE(write_head_folder(folder_ / "head", file, head.weights()).has_value());
  EXPECT_THAT(folder_.read("head/config.json"), HasSubstr("\"target_weights\": \"00000000000000ab\""));
  const Checkpoint checkpoint = Checkpoint::open(folder_ / "head").value();
  const Weights stored = Weights::load(checkpoint, head_tensors(config_)).value();
  // The file's fc takes features as they are.
  const at::NoGradGuard no_gradients;
  const at::Tensor fuse = head.weights().at("fc.weight");
  for (int64_t i = 0; i < config_.width(); ++i) {
    const double expected = fuse[3][i].item<double>() / scales_[static_cast<size_t>(i)];
    EXPECT_NEAR(stored.at("fc.weight")[3][i].item<double>(), expected, std::abs(expected) / 200) << i;
  }
  const Weights read = read_head_folder(folder_ / "head", file, target_.output).value();
  for (const Parameter& parameter : read.all()) {
    const at::Tensor& own = head.weights().at(parameter.spec.name);
    EXPECT_TRUE(parameter.value.allclose(own, 0.01, 1e-6)) << parameter.spec.name;
  }
  EXPECT_FALSE(read_head_folder(folder_ / "head", {.config = config_, .scales = scales_, .target_weights = 1}, target_.output));
}

// The rows of the output head go with their tokens.
TEST_F(HeadTrainingTest, IsReadForAnotherDraftVocabulary) {
  HeadTraining head = training({.steps = 3, .batch = 3, .warmup_steps = 1});
  run(head, 3);
  ASSERT_TRUE(write_head_folder(folder_ / "head", {.config = config_, .scales = scales_}, head.weights()).has_value());
  HeadConfig other = config_;
  const TokenId removed = other.vocabulary[5];
  other.vocabulary.clear();
  for (TokenId token = 0; token < 64; ++token) {
    if (token != removed) other.vocabulary.push_back(token);
  }
  const HeadTarget target = HeadTarget::load(tiny_target(), other).value();
  const Weights read = read_head_folder(folder_ / "head", {.config = other, .scales = scales_}, target.output).value();
  const at::NoGradGuard no_gradients;
  for (size_t row = 0; row < other.vocabulary.size(); ++row) {
    const auto there = std::ranges::find(config_.vocabulary, other.vocabulary[row]);
    const at::Tensor expected = there == config_.vocabulary.end()
                                    ? target.output[static_cast<int64_t>(row)]
                                    : head.weights().at("lm_head.weight")[there - config_.vocabulary.begin()];
    EXPECT_TRUE(read.at("lm_head.weight")[static_cast<int64_t>(row)].allclose(expected, 0.01, 1e-6)) << row;
  }
}

TEST(HeldOutTest, MultipliesTheRatesOfDepths) {
  const HeldOut held_out{.loss = 1, .depths = {{.tried = 10, .matched = 5}, {.tried = 4, .matched = 1}}};
  EXPECT_DOUBLE_EQ(held_out.tokens_per_round(), 1 + 0.5 + 0.5 * 0.25);
  EXPECT_EQ(text_of(held_out), "held-out loss 1.000, accepted by depth 0.500 0.250, 1.625 tokens a round");
}

}  // namespace
}  // namespace slipstream::train
