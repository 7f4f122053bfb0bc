#include "tools/train/adamw.h"

#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "common/base/check_beside_torch.h"

namespace slipstream::train {

AdamW::AdamW(const Weights& weights, const AdamWOptions& options)
    : options_(options), steps_(at::zeros({}, weights.all().front().value.options().requires_grad(false))) {
  groups_[0].decay = options.decay;
  const at::NoGradGuard no_gradients;
  for (const Parameter& parameter : weights.all()) {
    const Moments& own =
        moments_.emplace_back(Moments{parameter.spec.name, at::zeros_like(parameter.value), at::zeros_like(parameter.value)});
    Group& group = groups_[parameter.spec.is_vector() ? 1 : 0];
    group.weights.push_back(parameter.value);
    group.means.push_back(own.mean);
    group.means_squared.push_back(own.mean_squared);
    group.steps.push_back(steps_);
  }
}

void AdamW::step(double learning_rate, const Gradients& how) {
  const at::NoGradGuard no_gradients;
  const auto given = [](const at::Tensor& tensor) { return tensor.defined() ? std::optional(tensor) : std::nullopt; };
  steps_ += 1;
  if (how.broken.defined()) steps_ -= how.broken;
  for (Group& group : groups_) {
    if (group.weights.empty()) continue;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& weight : group.weights) {
      CHECK(weight.grad().defined(), "a weight without a gradient");
      gradients.push_back(weight.grad());
    }
    at::_fused_adamw_(group.weights, gradients, group.means, group.means_squared, {}, group.steps, learning_rate,
                      options_.beta1, options_.beta2, group.decay, options_.eps, /*amsgrad=*/false, /*maximize=*/false,
                      given(how.divisor), given(how.broken));
  }
}

void AdamW::clear_gradients() {
  for (Group& group : groups_) {
    for (at::Tensor& weight : group.weights) weight.mutable_grad() = at::Tensor();
  }
}

void AdamW::set_steps(int64_t steps) { steps_.fill_(static_cast<double>(steps)); }

}  // namespace slipstream::train
