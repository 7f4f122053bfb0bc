// A training in memory: what it does to its weights, and what its checkpoints keep.
#include "tools/train/training.h"

#include <cmath>

#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"
#include "tools/train/sequence_lessons.h"

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
const TrainingSettings kSettings{.steps = 30, .learning_rate = 0.01, .warmup_steps = 5};
const LessonSizes kSizes{.batch = 4, .micro_batch = 2};
const Conditions kConditions{{"--seed", "1"}};

class TrainingTest : public testing::Test {
 protected:
  Training training(const TrainingSettings& settings = kSettings, const LessonSizes& sizes = kSizes) const {
    return Training(kConfig, Weights::random(llama_tensors(kConfig), kConfig.layers, 1), lessons(sizes), settings);
  }
  std::unique_ptr<Lessons> lessons(const LessonSizes& sizes, std::optional<Teacher> teacher = std::nullopt) const {
    return std::make_unique<SequenceLessons>(counting_up("shard", 500), counting_up("held_out", 100), std::move(teacher), sizes,
                                             at::kCPU);
  }
  Sequences counting_up(const std::string& file, int tokens) const {
    std::vector<TokenShard> shards;
    shards.push_back(folder_.shard(file, counting(tokens)));
    return Sequences::cut(std::move(shards), 16, 1).value();
  }
  static double run(Training& training, int64_t until) {
    while (training.steps_done() < until) EXPECT_TRUE(training.step().has_value());
    return training.reports().value().back().loss;
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
  Training counts = training({.steps = 150, .learning_rate = 0.02, .warmup_steps = 10}, {.batch = 4, .micro_batch = 4});
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
  EXPECT_THAT(begun.restore(folder_ / "checkpoint", {}).error().message,
              HasSubstr("was begun with --seed = 1, and now without: go on with what it was begun with"));
  EXPECT_THAT(begun.restore(folder_ / "checkpoint", {{"--seed", "1"}, {"--loss", "reverse-kl"}}).error().message,
              HasSubstr("was begun without --loss, and now --loss = reverse-kl"));
  EXPECT_THAT(begun.restore(folder_ / "checkpoint", {{"--seed", "2"}}).error().message,
              HasSubstr("was begun with --seed = 1, and now --seed = 2: go on with what it was begun with"));
}

TEST_F(TrainingTest, RefusesACheckpointOfAnotherModelOrNone) {
  Training begun = training();
  ASSERT_TRUE(begun.save(folder_ / "checkpoint", kConditions).has_value());
  LlamaConfig wider = kConfig;
  wider.intermediate = 48;
  Training other(wider, Weights::random(llama_tensors(wider), 2, 1), lessons(kSizes), kSettings);
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
  EXPECT_TRUE(broken.step() && broken.step());
  const auto reports = broken.reports();
  ASSERT_FALSE(reports.has_value());
  EXPECT_THAT(reports.error().message, HasSubstr("step 1: the loss is nan"));
  EXPECT_THAT(reports.error().message, HasSubstr("lower --learning-rate, which is 0.01, or raise --warmup-steps, which is 5"));
  EXPECT_TRUE(broken.weights().at("model.embed_tokens.weight").equal(twin.weights().at("model.embed_tokens.weight")));
}

TEST_F(TrainingTest, TellsOfEachStepOnceHoweverLateItIsAsked) {
  Training at_once = training(), later = training();
  std::vector<double> losses;
  for (int step = 0; step < 4; ++step) {
    EXPECT_TRUE(at_once.step());
    losses.push_back(at_once.reports().value().at(0).loss);
    EXPECT_TRUE(later.step());
  }
  const std::vector<StepReport> reports = later.reports().value();
  ASSERT_EQ(reports.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(reports[i].step, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(reports[i].loss, losses[i]);
  }
  EXPECT_TRUE(later.reports().value().empty());
}

// No bits are promised there, and rounding is all that these conditions decide.
TEST_F(TrainingTest, GoesOnOnAnotherDeviceThanAGpuAndBack) {
  Training begun = training();
  const Conditions on_cpu{{"--seed", "1"}, {kThreadsCondition, "2"}}, on_gpu{{"--seed", "1"}, {kDeviceCondition, "cuda"}};
  ASSERT_TRUE(begun.save(folder_ / "gpu", on_gpu).has_value());
  EXPECT_TRUE(begun.restore(folder_ / "gpu", on_cpu).has_value());
  ASSERT_TRUE(begun.save(folder_ / "cpu", on_cpu).has_value());
  EXPECT_TRUE(begun.restore(folder_ / "cpu", on_gpu).has_value());
  const Conditions other_threads{{"--seed", "1"}, {kThreadsCondition, "3"}},
      other_seed{{"--seed", "2"}, {kDeviceCondition, "cuda"}};
  EXPECT_THAT(begun.restore(folder_ / "cpu", other_threads).error().message, HasSubstr("--threads = 2, and now --threads = 3"));
  EXPECT_THAT(begun.restore(folder_ / "cpu", other_seed).error().message, HasSubstr("--seed = 1, and now --seed = 2"));
}

TEST_F(TrainingTest, TakesTheSameStepInSmallerParts) {
  Training whole = training({.steps = 5}, {.batch = 4, .micro_batch = 4}),
           parts = training({.steps = 5}, {.batch = 4, .micro_batch = 1});
  EXPECT_NEAR(run(whole, 5), run(parts, 5), 1e-4);
}

TEST_F(TrainingTest, TellsTheHeldOutLossWithoutLearningFromIt) {
  Training counts = training(), twin = training();
  EXPECT_NEAR(counts.held_out().value()->loss, std::log(kVocabulary), 0.1);
  EXPECT_TRUE(same_bits(counts, twin));
}

// A teacher of random weights: nothing but its distributions can be learnt.
class DistillingTest : public TrainingTest {
 protected:
  Training learning(Divergence divergence, int64_t steps) const {
    const Weights theirs = Weights::random(llama_tensors(kConfig), kConfig.layers, 2);
    const at::NoGradGuard no_gradients;
    theirs.at("model.embed_tokens.weight").mul_(20);  // so that it is sure of something
    return Training(kConfig, Weights::random(llama_tensors(kConfig), kConfig.layers, 1),
                    lessons(kSizes, Teacher{.module = LlamaModule(kConfig, theirs, 16, at::kFloat), .divergence = divergence}),
                    {.steps = steps, .learning_rate = 0.02, .warmup_steps = 10});
  }
};

TEST_F(DistillingTest, LearnsWhatItsTeacherSaysByEachDivergence) {
  for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::total_variation}) {
    Training learns = learning(divergence, 200);
    const HeldOutLoss before = *learns.held_out().value();
    run(learns, 200);
    const HeldOutLoss after = *learns.held_out().value();
    EXPECT_LT(after.loss, before.loss / 3) << divergence_name(divergence);
    EXPECT_GT(after.agreement.sampled / static_cast<double>(after.agreement.rows), 0.85) << divergence_name(divergence);
    EXPECT_GT(after.agreement.greedily, before.agreement.greedily);
  }
}

TEST_F(DistillingTest, GoesOnFromACheckpointToTheSameBits) {
  Training whole = learning(Divergence::reverse_kl, 20), before = learning(Divergence::reverse_kl, 20),
           after = learning(Divergence::reverse_kl, 20);
  run(whole, 20);
  run(before, 9);
  ASSERT_TRUE(before.save(folder_ / "checkpoint", kConditions).has_value());
  ASSERT_TRUE(after.restore(folder_ / "checkpoint", kConditions).has_value());
  run(after, 20);
  EXPECT_TRUE(same_bits(after, whole));
}

}  // namespace
}  // namespace slipstream::train
