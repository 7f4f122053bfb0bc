// Divergences beside sums by hand, and the loss in slices beside that of all rows at once.
#include "tools/train/distillation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/train/wide_model.h"

namespace slipstream::train {
namespace {

Weights some_weights(uint64_t seed) {
  Weights weights = Weights::random(llama_tensors(kWideConfig), 1, seed);
  const at::NoGradGuard no_gradients;
  weights.at("model.embed_tokens.weight").mul_(40);  // so that distributions are not even
  return weights;
}
std::vector<double> distribution(const at::Tensor& logits) {
  std::vector<double> chances;
  double sum = 0;
  for (int64_t i = 0; i < logits.numel(); ++i) {
    chances.push_back(std::exp(double{logits[i].item<float>()}));
    sum += chances.back();
  }
  for (double& chance : chances) chance /= sum;
  return chances;
}

TEST(Distillation, ADivergenceIsTheSumOfItsDefinition) {
  const at::Tensor teacher = at::randn({3, 7}) * 2, model = at::randn({3, 7}) * 2;
  for (int64_t row = 0; row < 3; ++row) {
    const std::vector<double> p = distribution(teacher[row]), q = distribution(model[row]);
    double forward = 0, reverse = 0, common = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      forward += p[i] * std::log(p[i] / q[i]);
      reverse += q[i] * std::log(q[i] / p[i]);
      common += std::min(p[i], q[i]);
    }
    const auto of = [&](Divergence kind) { return divergence(kind, teacher, model)[row].item<double>(); };
    EXPECT_NEAR(of(Divergence::forward_kl), forward, 1e-5);
    EXPECT_NEAR(of(Divergence::reverse_kl), reverse, 1e-5);
    EXPECT_NEAR(of(Divergence::total_variation), 1 - common, 1e-6) << "what the ratio rule rejects";
  }
}

TEST(Distillation, AModelThatIsItsOwnTeacherAgreesWithIt) {
  const Weights weights = some_weights(3);
  const LlamaModule model(kWideConfig, weights, kWideLength, at::kFloat);
  for (const Divergence kind : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::total_variation}) {
    const Agreement agreed = agreement(model, {.module = model, .divergence = kind}, wide_tokens());
    EXPECT_EQ(agreed.rows, 2 * kWideLength);
    EXPECT_NEAR(agreed.divergence, 0, 1e-2);
    EXPECT_EQ(agreed.greedily, 2.0 * kWideLength);
    EXPECT_NEAR(agreed.sampled, 2.0 * kWideLength, 1e-2);
  }
}

TEST(Distillation, InSlicesIsThatOfAllRowsAtOnceWithItsGradients) {
  const Weights weights = some_weights(3), theirs = some_weights(4);
  const LlamaModule model(kWideConfig, weights, kWideLength, at::kFloat);
  const at::Tensor tokens = wide_tokens();
  for (const Divergence kind : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::total_variation}) {
    const Teacher teacher{.module = LlamaModule(kWideConfig, theirs, kWideLength, at::kFloat), .divergence = kind};
    const at::Tensor their_logits = teacher.module.logits(teacher.module.rows_before(tokens)).detach();
    const at::Tensor logits = model.logits(model.rows_before(tokens));
    const at::Tensor at_once = divergence(kind, their_logits, logits).mean();
    ASSERT_GT(at_once.item<double>(), 0.01);
    at_once.backward();
    std::vector<at::Tensor> gradients;
    for (const Parameter& parameter : weights.all()) {
      gradients.push_back(parameter.value.grad());
      parameter.value.mutable_grad() = at::Tensor();
    }
    const Agreement agreed = agreement(model, teacher, tokens);
    EXPECT_FALSE(weights.all()[0].value.grad().defined());
    EXPECT_NEAR(agreed.divergence / (2 * kWideLength), at_once.item<double>(), 1e-5);
    EXPECT_EQ(agreed.greedily, (logits.argmax(-1) == their_logits.argmax(-1)).sum().item<double>());
    EXPECT_NEAR(distillation_loss_backward(model, teacher, tokens, 2 * kWideLength).item<double>(), at_once.item<double>(),
                1e-5);
    for (size_t i = 0; i < gradients.size(); ++i) {
      const double apart = (weights.all()[i].value.grad() - gradients[i]).abs().max().item<double>();
      const double largest = gradients[i].abs().max().item<double>();
      EXPECT_GT(largest, 0) << weights.all()[i].spec.name;
      EXPECT_LT(apart, 1e-3 * largest) << weights.all()[i].spec.name;
      EXPECT_FALSE(theirs.all()[i].value.grad().defined()) << "a teacher does not learn";
      weights.all()[i].value.mutable_grad() = at::Tensor();
    }
  }
}

}  // namespace
}  // namespace slipstream::train
