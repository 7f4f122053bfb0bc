// What an acceptance head learns of examples whose chances are known.
#include "tools/train/acceptance_training.h"

#include <cmath>
#include <random>

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

constexpr int32_t kHidden = 8;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The chance depends on two numbers of the state, and on the column.
double true_chance(const float* state, int64_t column) {
  return sigmoid(1.5 * state[0] - state[1] + (column == acceptance_column(false) ? 0.5 : -1.0));
}

AcceptanceExamples examples(int64_t count, uint32_t seed) {
  std::mt19937 dice(seed);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> chance;
  AcceptanceExamples made;
  made.states = at::empty({count, kHidden});
  auto* numbers = made.states.mutable_data_ptr<float>();
  for (int64_t i = 0; i < count; ++i, numbers += kHidden) {
    for (int at = 0; at < kHidden; ++at) numbers[at] = normal(dice);
    made.column.push_back(i % 2);
    made.accepted.push_back(chance(dice) < true_chance(numbers, i % 2) ? 1.0F : 0.0F);
    made.confidence.push_back(0.5F);
  }
  return made;
}

AcceptanceData data() { return {.train = examples(20'000, 1), .calibrate = examples(5'000, 2), .measure = examples(5'000, 3)}; }

// Equation of the header: the score s that minimises the weighted loss of examples that are
// accepted with probability P becomes P by adding log(w_rej) to its logit.
TEST(RejectWeight, IsTakenOutExactly) {
  for (const double weight : {1.0, 3.0, 6.0, 12.0}) {
    for (const double chance : {0.02, 0.3, 0.5, 0.9}) {
      const double score = chance / (chance + weight * (1 - chance));
      const auto loss = [&](double s) { return -chance * std::log(s) - weight * (1 - chance) * std::log(1 - s); };
      EXPECT_LT(loss(score), loss(score + 1e-3));
      EXPECT_LT(loss(score), loss(score - 1e-3));
      EXPECT_NEAR(sigmoid(std::log(score / (1 - score)) + std::log(weight)), chance, 1e-12);
    }
  }
}

TEST(AcceptanceTraining, FindsTheChancesOfBothColumnsWithEachWeight) {
  const AcceptanceData all = data();
  for (const double weight : {1.0, 6.0}) {
    for (const int layers : {0, 2}) {
      const AcceptanceSettings settings{.layers = layers, .reject_weight = weight, .epochs = 15, .learning_rate = 1e-2};
      const Weights weights = train_acceptance_head(all, settings).value();
      const std::vector<float> logits = predicted(weights, layers, all.measure);
      double wrong = 0;
      for (size_t i = 0; i < logits.size(); ++i) {
        const float* state = all.measure.states.const_data_ptr<float>() + i * kHidden;
        wrong += std::abs(sigmoid(logits[i]) - true_chance(state, all.measure.column[i]));
      }
      EXPECT_LT(wrong / static_cast<double>(logits.size()), 0.03) << weight << ", " << layers;
      EXPECT_LT(quality_of(logits, all.measure.accepted).error, 0.03);
    }
  }
}

TEST(AcceptanceTraining, GivesTheSameBitsTwice) {
  const AcceptanceData all = data();
  const AcceptanceSettings settings{.epochs = 1};
  const Weights once = train_acceptance_head(all, settings).value(), again = train_acceptance_head(all, settings).value();
  for (const Parameter& parameter : once.all()) EXPECT_TRUE(parameter.value.equal(again.at(parameter.spec.name)));
}

// A training that went through the epochs that are left would never end.
TEST(AcceptanceTraining, EndsWhenItIsTold) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(train_acceptance_head(data(), {.epochs = 1'000'000'000'000}, stop.get_token()));
}

TEST(PredictionQuality, OfAPerfectPredictionIsPerfect) {
  const std::vector<float> accepted{0, 1, 1, 0};
  const PredictionQuality perfect = quality_of(std::vector<float>{-20, 20, 20, -20}, accepted);
  EXPECT_NEAR(perfect.loss, 0, 1e-6);
  EXPECT_NEAR(perfect.error, 0, 1e-6);
  EXPECT_EQ(perfect.order, 1);
  EXPECT_EQ(quality_of(std::vector<float>{-20, 20, -20, 20}, accepted).order, 0.5);
}

}  // namespace
}  // namespace slipstream::train
