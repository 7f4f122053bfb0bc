// The training of a head for a tiny random target, from its collected features.
#include "tools/train/head_training.h"

#include <cmath>
#include <set>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include "common/checkpoint/head_config.h"
#include "tests/unit/common/model/rows.h"
#include "tests/unit/tools/train/tiny_head.h"
#include "tools/train/head_folder.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

const Conditions kConditions{{"--seed", "1"}};

class HeadTrainingTest : public testing::Test, public TinyHead {
 protected:
  static void run(HeadTraining& training, int64_t until) {
    while (training.steps_done() < until) ASSERT_TRUE(training.step().has_value());
    ASSERT_TRUE(training.reports().has_value());
  }
  void draft_the_most_frequent(int32_t tokens) {
    config_.vocabulary = frequent_tokens(data_->train(), 64, tokens);
    target_ = HeadTarget::load(tiny_target(), config_, /*keep_all=*/true).value();
  }
  static std::vector<TokenId> extra_of(const HeadBatch& batch) {
    std::vector<TokenId> extra;
    for (int64_t i = 0; i < batch.extra.numel(); ++i) extra.push_back(batch.extra[i].item<TokenId>());
    return extra;
  }
  static bool same_bits(const HeadTraining& a, const HeadTraining& b) {
    for (const Parameter& parameter : a.weights().all()) {
      if (!parameter.value.equal(b.weights().at(parameter.spec.name))) return false;
    }
    return true;
  }
};

// The loss cannot fall below the entropy of the target's own distributions. What is above it is the
// head's, and of that training takes most away: losses differ little between CPUs, unlike the few
// drafts that are counted. (Measured: a third is left.)
TEST_F(HeadTrainingTest, LearnsMostOfWhatCanBeLearnt) {
  constexpr int64_t kSteps = 150;
  std::vector<const FeatureDocument*> held_out;
  for (const FeatureDocument& document : data_->held_out()) held_out.push_back(&document);
  const HeadBatch batch = HeadBatcher(config_, *data_, 2, at::kCPU).of(held_out).value();
  const at::Tensor probability = probability_of(batch);
  const double entropy = -(probability * probability.log()).sum(1).mean().item<double>();

  HeadTraining head = training({.steps = kSteps, .batch = 8, .learning_rate = 0.003, .warmup_steps = 10});
  const HeldOut before = head.held_out(10).value();
  run(head, kSteps);
  const HeldOut after = head.held_out(10).value();
  EXPECT_LT(after.loss - entropy, 0.5 * (before.loss - entropy)) << entropy << " " << before.loss << " " << after.loss;
  EXPECT_GT(after.depths[0].rate(), 2 * before.depths[0].rate()) << text_of(before) << "; " << text_of(after);
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
  const FeatureDocument& document = data_->held_out()[0];
  const FeatureDocument* only = &document;
  const HeadBatch batch = HeadBatcher(config_, *data_, 2, at::kCPU).of({&only, 1}).value();
  const at::Tensor probability = probability_of(batch);
  // The distribution is that of the served target's logits, at the draft vocabulary alone.
  auto model = load_alone(tiny_target(), {.path = CpuPath::portable}).value();
  BlockPool pool(4);
  BlockTable blocks(pool);
  ASSERT_TRUE(blocks.reserve(static_cast<int32_t>(document.tokens.size())));
  Rows plan(4);
  plan.prompt(plan.sequence_of(blocks), blocks, document.tokens, 0);
  ASSERT_TRUE(model.run(plan.view()).has_value());
  ASSERT_GT(batch.learned_rows(), 10);
  for (int64_t at = 0; at < batch.learned_rows(); ++at) {
    const int64_t row = batch.rows[at].item<int64_t>();
    const auto logits = model.logits().subspan(static_cast<size_t>(batch.first + row) * 64, 64);
    double total = 0;
    for (const TokenId token : config_.vocabulary) total += std::exp(double{logits[static_cast<size_t>(token)]});
    for (size_t i = 0; i < config_.vocabulary.size(); ++i) {
      const double expected = std::exp(double{logits[static_cast<size_t>(config_.vocabulary[i])]}) / total;
      EXPECT_NEAR(probability[at][static_cast<int64_t>(i)].item<double>(), expected, 0.02 * expected + 1e-4);
    }
  }
  const HeadBatch::Chat& chat = batch.chats[0];
  for (auto row = static_cast<size_t>(chat.answer); row < chat.choice.size(); ++row) {
    const TokenId likeliest = document.choices[static_cast<size_t>(batch.first) + row];
    const auto found = std::ranges::find(config_.vocabulary, likeliest);
    EXPECT_EQ(chat.choice[row], found == config_.vocabulary.end() ? -1 : found - config_.vocabulary.begin());
  }
}

TEST_F(HeadTrainingTest, LearnsNothingFromPromptsOrFromChoicesThatItCannotDraft) {
  const HeadBatcher batcher(config_, *data_, 4, at::kCPU);
  for (const FeatureDocument& document : data_->held_out()) {
    int64_t learnable = 0;
    for (size_t row = 3; row + 1 < document.tokens.size(); ++row) {
      learnable += std::ranges::binary_search(config_.vocabulary, document.choices[row]) ? 1 : 0;
    }
    const FeatureDocument* only = &document;
    EXPECT_EQ(batcher.of({&only, 1}).value().learned_rows(), learnable);
  }
}

TEST_F(HeadTrainingTest, ExtraTokensAreWhatAChatChoseAndSaidFilledUpFromTheEnd) {
  draft_the_most_frequent(4);
  const FeatureDocument* only = data_->train().data();
  const auto drafted = [&](TokenId token) { return std::ranges::binary_search(config_.vocabulary, token); };
  const size_t rows = only->tokens.size() - 1;
  std::set<TokenId> expected;
  for (size_t row = 0; row < rows; ++row) {
    for (const TokenId token : {only->choices[row], only->tokens[row + 1]}) {
      if (token >= 0 && !drafted(token)) expected.insert(token);
    }
  }
  ASSERT_GT(expected.size(), 8u);
  for (TokenId token = 63; expected.size() % kRowsTogether != 0; --token) {
    if (!drafted(token)) expected.insert(token);
  }
  const HeadBatch batch = HeadBatcher(config_, *data_, 2, at::kCPU, 64).of({&only, 1}).value();
  const std::vector<TokenId> extra = extra_of(batch);
  EXPECT_THAT(extra, testing::ElementsAreArray(expected));
  const HeadBatch::Chat& chat = batch.chats[0];
  for (size_t row = 0; row < chat.next.size(); ++row) {
    const auto at = static_cast<size_t>(chat.next[row]);
    EXPECT_EQ(at < 4 ? config_.vocabulary[at] : extra.at(at - 4), only->tokens[static_cast<size_t>(batch.first) + row + 1]);
  }
}

TEST_F(HeadTrainingTest, OfMoreExtraTokensThanItTakesItTakesTheLatestChoice) {
  draft_the_most_frequent(4);
  const FeatureDocument* only = data_->train().data();
  const auto extra = [&](int32_t count) {
    return extra_of(HeadBatcher(config_, *data_, 2, at::kCPU, count).of({&only, 1}).value());
  };
  const auto choices = only->choices.first(only->tokens.size() - 1);
  const auto latest = std::ranges::find_if(choices.rbegin(), choices.rend(), [&](TokenId token) {
    return token >= 0 && !std::ranges::binary_search(config_.vocabulary, token);
  });
  ASSERT_NE(latest, choices.rend());
  std::set<TokenId> expected{*latest};
  for (TokenId token = 63; expected.size() < kRowsTogether; --token) {
    if (!std::ranges::binary_search(config_.vocabulary, token)) expected.insert(token);
  }
  EXPECT_THAT(extra(1), testing::ElementsAreArray(expected));
  EXPECT_THAT(extra(0), testing::IsEmpty());
}

// Half of the tokens are its vocabulary, and the other half fill up the extra tokens of each step.
TEST_F(HeadTrainingTest, ExtraTokensTeachWhatALargerVocabularyTeaches) {
  const auto losses = [&](int32_t extra_tokens) {
    HeadTraining head = training(
        {.steps = 6, .batch = 4, .micro_batch = 4, .warmup_steps = 2, .freeze_output = true, .extra_tokens = extra_tokens});
    while (!head.finished()) EXPECT_TRUE(head.step().has_value());
    return head.reports().value();
  };
  draft_the_most_frequent(32);
  const std::vector<StepReport> extra = losses(64), none = losses(0);
  draft_the_most_frequent(64);
  const std::vector<StepReport> all = losses(0);
  for (size_t step = 0; step < all.size(); ++step) {
    EXPECT_NEAR(extra[step].loss, all[step].loss, 1e-4 * all[step].loss) << step;
    EXPECT_GT(std::abs(none[step].loss - all[step].loss), 1e-2 * all[step].loss) << step;
  }
}

// Chats that are computed at once have the loss of each alone.
TEST_F(HeadTrainingTest, TakesTheSameStepInSmallerParts) {
  HeadTraining alone = training({.steps = 8, .batch = 6, .warmup_steps = 2}),
               together = training({.steps = 8, .batch = 6, .micro_batch = 4, .warmup_steps = 2});
  for (int step = 0; step < 8; ++step) {
    ASSERT_TRUE(alone.step().has_value());
    ASSERT_TRUE(together.step().has_value());
  }
  const std::vector<StepReport> one = alone.reports().value(), other = together.reports().value();
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(one[i].loss, other[i].loss, 1e-4 * one[i].loss) << i;
  const HeldOut before = alone.held_out(10).value(), after = together.held_out(10).value();
  EXPECT_NEAR(before.loss, after.loss, 1e-4 * before.loss);
  EXPECT_EQ(before.depths[0].tried, after.depths[0].tried);
}

// Features that are computed beside the training, of which memory holds all, some or none, are
// those of the shards.
TEST_F(HeadTrainingTest, OfDocumentsHasTheBitsOfTheirShards) {
  const HeadTrainingSettings settings{.steps = 12, .batch = 5, .warmup_steps = 2};
  HeadTraining of_shards = training(settings);
  run(of_shards, 12);
  const HeldOut expected = of_shards.held_out(10).value();
  for (const uint64_t bytes : {uint64_t{1} << 30, uint64_t{200'000}, uint64_t{0}}) {
    int64_t tokens = 0;
    const HeadData computed = HeadData::compute(random_chats(200), tiny_collector(),
                                                {.held_out_every = 20,
                                                 .bytes_max = bytes,
                                                 .computed =
                                                     [&](int64_t count) {
                                                       tokens += count;
                                                       return true;
                                                     }})
                                  .value();
    EXPECT_GT(tokens, 200 * 24);
    EXPECT_EQ(std::ranges::count_if(computed.train(), [](const auto& each) { return each.features.empty(); }) > 0,
              bytes < 1 << 30);
    EXPECT_EQ(feature_scales(computed, config_.width()).value(), scales_);
    EXPECT_EQ(frequent_tokens(computed.train(), 64, 48), config_.vocabulary);
    HeadTraining of_documents = training(settings, computed, at::kCPU);
    run(of_documents, 12);
    EXPECT_TRUE(same_bits(of_shards, of_documents)) << bytes;
    EXPECT_EQ(text_of(of_documents.held_out(10).value()), text_of(expected));
  }
}

TEST_F(HeadTrainingTest, OfDocumentsIsGivenUpWhenAStopIsAskedFor) {
  const auto stopped = HeadData::compute(random_chats(200), tiny_collector(), {.computed = [](int64_t) { return false; }});
  EXPECT_THAT(stopped.error().message, HasSubstr("stopped before the first step"));
  EXPECT_THAT(HeadData::compute(random_chats(3), tiny_collector(), {}).error().message, HasSubstr("there are 3 chats"));
}

// The caller tells the time.
TEST_F(HeadTrainingTest, OfATimeEndsWithItAndGoesOnWhereItWas) {
  const HeadTrainingSettings settings{.steps = 1 << 20, .minutes = 1, .batch = 3, .warmup_steps = 0};
  HeadTraining head = training(settings), later = training(settings);
  for (const double second : {0.0, 30.0, 45.0}) ASSERT_TRUE(head.step(second).has_value());
  EXPECT_FALSE(head.finished());
  ASSERT_TRUE(head.save(folder_ / "checkpoint", kConditions).has_value());
  ASSERT_TRUE(later.restore(folder_ / "checkpoint", kConditions).has_value());
  EXPECT_EQ(later.seconds_done(), 45);
  ASSERT_TRUE(later.step(60.5).has_value());
  EXPECT_TRUE(later.finished());
  const std::vector<StepReport> reports = head.reports().value();
  EXPECT_EQ(reports[1].learning_rate, settings.learning_rate);
  EXPECT_LT(reports[2].learning_rate, settings.learning_rate);
  EXPECT_NEAR(later.reports().value()[0].learning_rate, 0.1 * settings.learning_rate, 1e-9);
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
  ASSERT_TRUE(write_head_folder(folder_ / "head", file, target_.output, head.weights()).has_value());
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
  const std::string config = folder_.read("head/config.json");
  for (const std::string& damaged : {config.substr(0, config.size() / 2), std::string(), std::string("[]")}) {
    folder_.write("head/config.json", damaged);
    EXPECT_FALSE(read_head_folder(folder_ / "head", file, target_.output)) << damaged;
  }
}

TEST_F(HeadTrainingTest, SaysWhetherItsOutputRowsAreTheTargets) {
  for (const bool frozen : {false, true}) {
    HeadTraining head = training({.steps = 3, .batch = 3, .warmup_steps = 1, .freeze_output = frozen});
    run(head, 3);
    const HeadFile file{.config = config_, .scales = scales_};
    ASSERT_TRUE(write_head_folder(folder_ / "head", file, target_.output, head.weights()).has_value());
    EXPECT_EQ(slipstream::read_head_config(folder_ / "head").value().target_output, frozen);
    EXPECT_TRUE(read_head_folder(folder_ / "head", file, target_.output).has_value());
  }
}

// The rows of the output head go with their tokens.
TEST_F(HeadTrainingTest, IsReadForAnotherDraftVocabulary) {
  HeadTraining head = training({.steps = 3, .batch = 3, .warmup_steps = 1});
  run(head, 3);
  ASSERT_TRUE(
      write_head_folder(folder_ / "head", {.config = config_, .scales = scales_}, target_.output, head.weights()).has_value());
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
