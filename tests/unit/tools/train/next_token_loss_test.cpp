// The loss in slices beside the loss of all rows at once, and both beside differences of the loss.
#include "tools/train/next_token_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/train/wide_model.h"

namespace slipstream::train {
namespace {

TEST(NextTokenLoss, InSlicesIsThatOfAllRowsAtOnceWithItsGradients) {
  const Weights weights = Weights::random(llama_tensors(kWideConfig), 1, 3);
  const LlamaModule model(kWideConfig, weights, kWideLength, at::kFloat);
  const at::Tensor tokens = wide_tokens();
  const at::Tensor logits = model.logits(model.hidden(tokens.narrow(1, 0, kWideLength))).view({-1, kWideConfig.vocabulary});
  const at::Tensor at_once = at::cross_entropy_loss(logits, tokens.narrow(1, 1, kWideLength).reshape({-1}));
  at_once.backward();
  std::vector<at::Tensor> gradients;
  for (const Parameter& parameter : weights.all()) {
    gradients.push_back(parameter.value.grad());
    parameter.value.mutable_grad() = at::Tensor();
  }
  EXPECT_NEAR(next_token_loss(model, tokens, 2 * kWideLength).item<double>(), at_once.item<double>(), 1e-5);
  EXPECT_FALSE(weights.all()[0].value.grad().defined());
  EXPECT_NEAR(next_token_loss_backward(model, tokens, 2 * kWideLength).item<double>(), at_once.item<double>(), 1e-5);
  for (size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor apart = (weights.all()[i].value.grad() - gradients[i]).abs().max();
    EXPECT_LT(apart.item<double>(), 1e-6) << weights.all()[i].spec.name;
  }
}

// A gradient is how much the loss changes with a weight: a step against the gradient lowers it by
// the square of the norm, in first order.
TEST(NextTokenLoss, FallsAsItsGradientsSay) {
  const Weights weights = Weights::random(llama_tensors(kWideConfig), 1, 3);
  const LlamaModule model(kWideConfig, weights, kWideLength, at::kFloat);
  const at::Tensor tokens = wide_tokens();
  const double before = next_token_loss_backward(model, tokens, 2 * kWideLength).item<double>();
  const at::NoGradGuard no_gradients;
  constexpr double kRate = 1e-2;
  double squares = 0;
  for (const Parameter& parameter : weights.all()) {
    squares += parameter.value.grad().square().sum().item<double>();
    parameter.value.sub_(parameter.value.grad() * kRate);
  }
  EXPECT_NEAR((before - next_token_loss(model, tokens, 2 * kWideLength).item<double>()) / (kRate * squares), 1, 0.1);
}

}  // namespace
}  // namespace slipstream::train
