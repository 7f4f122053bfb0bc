// AdamW beside its formula in doubles, and the clipping of gradients.
#include "tools/train/adamw.h"

#include <cmath>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "tools/train/gradient_clip.h"

namespace slipstream::train {
namespace {

Weights two_tensors() {
  return Weights::random({{"matrix", TensorRole::matrix, 2, 3}, {"gain", TensorRole::gain, 1, 4}}, 1, 5);
}

void set_gradients(const Weights& weights, float value) {
  for (const Parameter& parameter : weights.all()) {
    parameter.value.mutable_grad() = at::full(parameter.value.sizes(), value);
  }
}

// Loshchilov and Hutter, algorithm 2, of one number; the gradient of step t is t.
double by_the_formula(double weight, double decay, int steps, double rate) {
  const AdamWOptions options;
  double mean = 0, squared = 0;
  for (int t = 1; t <= steps; ++t) {
    mean = options.beta1 * mean + (1 - options.beta1) * t;
    squared = options.beta2 * squared + (1 - options.beta2) * t * t;
    const double mean_hat = mean / (1 - std::pow(options.beta1, t)), squared_hat = squared / (1 - std::pow(options.beta2, t));
    weight -= rate * decay * weight;
    weight -= rate * mean_hat / (std::sqrt(squared_hat) + options.eps);
  }
  return weight;
}

TEST(AdamW, FollowsItsFormulaAndLetsOnlyMatricesDecay) {
  const Weights weights = two_tensors();
  const auto matrix = weights.at("matrix").clone(), gain = weights.at("gain").clone();
  AdamW optimizer(weights, {.decay = 0.5});
  for (int t = 1; t <= 5; ++t) {
    set_gradients(weights, static_cast<float>(t));
    optimizer.step(0.01);
  }
  for (int64_t i = 0; i < 6; ++i) {
    const double expected = by_the_formula(matrix.view(-1)[i].item<double>(), 0.5, 5, 0.01);
    EXPECT_NEAR(weights.at("matrix").view(-1)[i].item<double>(), expected, 1e-6);
  }
  EXPECT_NEAR(weights.at("gain")[0].item<double>(), by_the_formula(gain[0].item<double>(), 0, 5, 0.01), 1e-6);
}

TEST(GradientClip, BringsAllGradientsTogetherDownToTheBound) {
  const Weights weights = two_tensors();  // ten numbers
  set_gradients(weights, 2);
  const Clipping clipping = clip_gradients(weights, 1);
  EXPECT_NEAR(clipping.norm.item<double>(), 2 * std::sqrt(10), 1e-6);
  EXPECT_NEAR(clipping.divisor.item<double>(), 2 * std::sqrt(10), 1e-6);
  EXPECT_EQ(clip_gradients(weights, 10).divisor.item<double>(), 1);  // small enough
}

// A step by clipped gradients is a step by their quotients.
TEST(AdamW, DividesGradients) {
  const Weights divided = two_tensors(), twin = two_tensors();
  AdamW one(divided, {}), other(twin, {});
  for (int t = 1; t <= 3; ++t) {
    set_gradients(divided, static_cast<float>(4 * t));
    one.step(0.01, {.divisor = at::full({}, 4.0F), .broken = at::full({}, 0.0F)});
    set_gradients(twin, static_cast<float>(t));
    other.step(0.01);
  }
  EXPECT_TRUE(divided.at("matrix").equal(twin.at("matrix")));
  EXPECT_TRUE(divided.at("gain").equal(twin.at("gain")));
}

// The step does not count either: the next one is the twin's first.
TEST(AdamW, ChangesNothingInABrokenStep) {
  const Weights weights = two_tensors(), twin = two_tensors();
  AdamW one(weights, {}), other(twin, {});
  set_gradients(weights, NAN);
  const Clipping clipping = clip_gradients(weights, 1);
  EXPECT_FALSE(std::isfinite(clipping.norm.item<double>()));
  one.step(0.01, {.divisor = clipping.divisor, .broken = broken(at::full({}, 1.0), clipping.norm)});
  EXPECT_TRUE(weights.at("matrix").equal(twin.at("matrix")));
  set_gradients(weights, 3);
  set_gradients(twin, 3);
  one.step(0.01, {.divisor = at::full({}, 1.0F), .broken = broken(at::full({}, 1.0), at::full({}, 1.0))});
  other.step(0.01);
  EXPECT_TRUE(weights.at("matrix").equal(twin.at("matrix")));
  EXPECT_FALSE(weights.at("matrix").equal(two_tensors().at("matrix")));
}

}  // namespace
}  // namespace slipstream::train
