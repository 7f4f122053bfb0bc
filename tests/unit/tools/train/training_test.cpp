// A training in memory: what it does to its weights, and what its checkpoints keep.
#include "tools/train/training.h"

#include <cmath>

#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

const LlamaConfig kConfig{.hidden = 16,
                          .intermediate = 32,
                          .layers = 2,
                          .heads = 2,
                          .kv_heads = 1,
                          .head_size = 8,
                          .vocabulary = kVocabulary,
                          .tied_embeddings = true};
const TrainingSettings kSettings{.steps = 30, .batch = 4, .micro_batch = 2, .learning_rate = 0.01, .warmup_steps = 5};
const Conditions kConditions{{"--seed", "1"}};

class TrainingTest : public testing::Test {
 protected:
  Training training(const TrainingSettings& settings = kSettings) const {
    std::vector<TokenShard> shards;
    shards.push_back(folder_.shard("shard", counting(500)));
    return Training(kConfig, Weights::random(llama_tensors(kConfig), kConfig.layers, 1),
                    Sequences::cut(std::move(shards), 16, 1).value(), settings);
  }
  static double run(Training& training, int64_t until) {
    double loss = 0;
    while (training.steps_done() < until) loss = training.step().value().loss;
    return loss;
  }
  static bool same_bits(const Training& a, const Training& b) {
    for (const Parameter& parameter : a.weights().all()) {
      if (!parameter.value.equal(b.weights().at(parameter.spec.name))) return false;
    }
    return true;
  }
  TestFolder folder_;
};

TEST_F(TrainingTest, LearnsToCount) {
  Training counts = training({.steps = 150, .batch = 4, .micro_batch = 4, .learning_rate = 0.02, .warmup_steps = 10});
  EXPECT_NEAR(run(counts, 1), std::log(kVocabulary), 0.1);
  EXPECT_LT(run(counts, 150), 0.1);
}

TEST_F(TrainingTest, GoesOnFromACheckpointToTheSameBits) {
  Training whole = training(), before = training(), after = training();
  run(whole, 30);
  run(before, 13);
  ASSERT_TRUE(before.save(folder_ / "checkpoint", kConditions).has_value());
  const auto restored = after.restore(folder_ / "checkpoint", kConditions);
  ASSERT_TRUE(restored.has_value()) << restored.error().message;
  EXPECT_EQ(after.steps_done(), 13);
  run(after, 30);
  EXPECT_TRUE(same_bits(after, whole));
}

TEST_F(TrainingTest, GoesOnOnlyUnderTheConditionsThatItWasBegunWith) {
  Training begun = training();
  ASSERT_TRUE(begun.save(folder_ / "checkpoint", kConditions).has_value());
  EXPECT_THAT(begun.restore(folder_ / "checkpoint", {{"--seed", "2"}}).error().message,
              HasSubstr("was begun with --seed = 1, and now --seed = 2: go on with what it was begun with"));
}

TEST_F(TrainingTest, RefusesACheckpointOfAnotherModelOrNone) {
  Training begun = training();
  ASSERT_TRUE(begun.save(folder_ / "checkpoint", kConditions).has_value());
  LlamaConfig wider = kConfig;
  wider.intermediate = 48;
  std::vector<TokenShard> shards;
  shards.push_back(folder_.shard("shard", counting(500)));
  Training other(wider, Weights::random(llama_tensors(wider), 2, 1), Sequences::cut(std::move(shards), 16, 1).value(),
                 kSettings);
  EXPECT_THAT(other.restore(folder_ / "checkpoint", kConditions).error().message, HasSubstr("is no checkpoint of this model"));
  folder_.write("checkpoint", "cut short");
  EXPECT_THAT(begun.restore(folder_ / "checkpoint", kConditions).error().message, HasSubstr("no safetensors file"));
}

TEST_F(TrainingTest, StopsAtALossThatIsNoNumberAndKeepsTheWeights) {
  Training broken = training(), twin = training();
  {
    const at::NoGradGuard no_gradients;
    broken.weights().at("model.norm.weight").fill_(NAN);
    twin.weights().at("model.norm.weight").fill_(1.0);
  }
  const auto step = broken.step();
  ASSERT_FALSE(step.has_value());
  EXPECT_THAT(step.error().message, HasSubstr("step 1: the loss is nan"));
  EXPECT_THAT(step.error().message, HasSubstr("lower --learning-rate, which is 0.01, or raise --warmup-steps, which is 5"));
  EXPECT_EQ(broken.steps_done(), 0);
  EXPECT_TRUE(broken.weights().at("model.embed_tokens.weight").equal(twin.weights().at("model.embed_tokens.weight")));
}

TEST_F(TrainingTest, TakesTheSameStepInSmallerParts) {
  Training whole = training({.steps = 5, .batch = 4, .micro_batch = 4}),
           parts = training({.steps = 5, .batch = 4, .micro_batch = 1});
  EXPECT_NEAR(run(whole, 5), run(parts, 5), 1e-4);
}

TEST_F(TrainingTest, TellsTheHeldOutLossWithoutLearningFromIt) {
  Training counts = training(), twin = training();
  std::vector<TokenShard> shards;
  shards.push_back(folder_.shard("held_out", counting(100)));
  Sequences held_out = Sequences::cut(std::move(shards), 16, 1).value();
  EXPECT_NEAR(counts.held_out_loss(held_out, 5), std::log(kVocabulary), 0.1);
  EXPECT_TRUE(same_bits(counts, twin));
}

}  // namespace
}  // namespace slipstream::train
