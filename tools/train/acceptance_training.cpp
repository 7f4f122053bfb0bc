#include "tools/train/acceptance_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "common/model/heads/acceptance_head.h"
#include "common/speculation/reliability.h"
#include "tools/train/adamw.h"
#include "tools/train/bf16_tensors.h"
#include "tools/train/epoch_order.h"
#include "tools/train/learning_rate.h"
#include "tools/train/platt.h"

namespace slipstream::train {
namespace {

constexpr double kWarmupShare = 0.02;  // of all steps
constexpr const char *kOutWeight = "out.weight", *kOutBias = "out.bias", *kStated = "confidence.weight";

template <class T>
at::Tensor tensor_of(const std::vector<T>& values, at::ScalarType type) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, type);
  std::ranges::copy(values, tensor.mutable_data_ptr<T>());
  return tensor;
}

at::Tensor logits_of(std::vector<float> confidence) {
  std::ranges::transform(confidence, confidence.begin(), logit_of_confidence);
  return tensor_of(confidence, at::kFloat);
}

// The examples on a device, as tensors that batches are taken from.
struct Batches {
  Batches(const AcceptanceExamples& examples, at::Device device)
      : states(examples.states.to(device)),
        accepted(tensor_of(examples.accepted, at::kFloat).to(device)),
        column(tensor_of(examples.column, at::kLong).to(device)),
        confidence(logits_of(examples.confidence).to(device)) {}

  at::Tensor states, accepted, column, confidence;
};

// The weighted loss of some examples, in the mean.
at::Tensor loss_of(const Weights& weights, const AcceptanceSettings& settings, const Batches& all, const at::Tensor& which) {
  const at::Tensor logits =
      acceptance_logits(weights, settings.layers, all.states.index_select(0, which), all.confidence.index_select(0, which));
  const at::Tensor own = logits.gather(1, all.column.index_select(0, which).unsqueeze(1)).squeeze(1);
  const at::Tensor accepted = all.accepted.index_select(0, which);
  const at::Tensor weight = accepted + (1 - accepted) * settings.reject_weight;
  return at::binary_cross_entropy_with_logits(own, accepted, weight);
}

Result<void> descend(const Weights& weights, const AcceptanceData& data, const AcceptanceSettings& settings,
                     const std::stop_token& stop) {
  const Batches all(data.train, settings.device);
  const int64_t count = data.train.size(), batch = std::min(settings.batch, count), of_an_epoch = count / batch;
  const Schedule schedule{
      .peak = settings.learning_rate,
      .warmup_steps = static_cast<int64_t>(kWarmupShare * static_cast<double>(settings.epochs * of_an_epoch)),
      .steps = settings.epochs * of_an_epoch};
  AdamW optimizer(weights, {.decay = settings.decay});
  for (int64_t epoch = 0, step = 0; epoch < settings.epochs && !stop.stop_requested(); ++epoch) {
    const std::vector<uint32_t> order = epoch_order(static_cast<size_t>(count), epoch, settings.seed);
    const at::Tensor places = tensor_of(std::vector<int64_t>(order.begin(), order.end()), at::kLong).to(settings.device);
    at::Tensor losses = at::zeros({}, places.options().dtype(at::kDouble));  // read once an epoch: a device computes on
    for (int64_t at = 0; at < of_an_epoch && !stop.stop_requested(); ++at, ++step) {
      const at::Tensor loss = loss_of(weights, settings, all, places.narrow(0, at * batch, batch));
      loss.backward();
      losses += loss.detach();
      optimizer.step(learning_rate(schedule, step));
      optimizer.clear_gradients();
    }
    if (!std::isfinite(losses.item<double>())) return fail("epoch {}: the loss is not finite: lower --learning-rate", epoch);
  }
  return {};
}

// Takes the weight of rejected examples out, then calibrates the column on its own examples.
void calibrate(const Weights& weights, const AcceptanceExamples& examples, const AcceptanceSettings& settings) {
  const at::NoGradGuard no_gradients;
  weights.at(kOutBias).add_(std::log(settings.reject_weight));
  const std::vector<float> logits = predicted(weights, settings.layers, examples);
  for (int64_t column = 0; column < kAcceptanceColumns; ++column) {
    std::vector<float> own, seen;
    for (size_t i = 0; i < logits.size(); ++i) {
      if (examples.column[i] != column) continue;
      own.push_back(logits[i]);
      seen.push_back(examples.accepted[i]);
    }
    if (own.empty()) {  // nobody traced such requests: the stated confidence stays as it is
      weights.at(kOutWeight)[column].zero_();
      weights.at(kOutBias)[column].zero_();
      weights.at(kStated)[column].fill_(1);
      continue;
    }
    const PlattLine line = fit_platt(own, seen);
    weights.at(kOutWeight)[column].mul_(line.slope);
    weights.at(kStated)[column].mul_(line.slope);
    weights.at(kOutBias)[column].mul_(line.slope).add_(line.offset);
  }
}

}  // namespace

std::vector<TensorSpec> acceptance_tensors(int32_t hidden, int layers) {
  std::vector<TensorSpec> specs;
  for (int d = 0; d < layers; ++d) {
    specs.push_back({fmt::format("layers.{}.weight", d), TensorRole::output, hidden, hidden});
    specs.push_back({fmt::format("layers.{}.bias", d), TensorRole::bias, 1, hidden});
  }
  specs.push_back({kOutWeight, TensorRole::matrix, kAcceptanceColumns, hidden});
  specs.push_back({kOutBias, TensorRole::bias, 1, kAcceptanceColumns});
  specs.push_back({kStated, TensorRole::gain, 1, kAcceptanceColumns});
  return specs;
}

at::Tensor acceptance_logits(const Weights& weights, int layers, const at::Tensor& states, const at::Tensor& confidence) {
  at::Tensor x = states;
  for (int d = 0; d < layers; ++d) {
    const std::string name = fmt::format("layers.{}", d);
    x = x + at::silu(at::linear(x, weights.at(name + ".weight"), weights.at(name + ".bias")));
  }
  return at::linear(x, weights.at(kOutWeight), weights.at(kOutBias)) + confidence.unsqueeze(1) * weights.at(kStated);
}

std::vector<float> predicted(const Weights& weights, int layers, const AcceptanceExamples& examples) {
  const at::NoGradGuard no_gradients;
  const at::Tensor logits = acceptance_logits(weights, layers, examples.states, logits_of(examples.confidence)).contiguous();
  const float* numbers = logits.const_data_ptr<float>();
  std::vector<float> own;
  for (size_t i = 0; i < examples.column.size(); ++i) {
    own.push_back(numbers[i * kAcceptanceColumns + static_cast<size_t>(examples.column[i])]);
  }
  return own;
}

PredictionQuality quality_of(std::span<const float> logits, std::span<const float> accepted) {
  PredictionQuality quality;
  Reliability reliability;
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return logits[i]; });
  double rejected = 0, pairs = 0;  // of those with a smaller logit; ordered pairs of a rejected and an accepted one
  for (const size_t i : order) {
    const double chance = 1 / (1 + std::exp(-double{logits[i]}));
    quality.loss -= std::log(std::max(1e-12, accepted[i] > 0 ? chance : 1 - chance));
    reliability.verified(chance, accepted[i] > 0);
    if (accepted[i] > 0) pairs += rejected;
    rejected += 1 - accepted[i];
  }
  const auto count = static_cast<double>(logits.size());
  quality.loss /= count;
  quality.error = reliability.error();
  quality.order = rejected > 0 && rejected < count ? pairs / (rejected * (count - rejected)) : 0.5;
  return quality;
}

Result<Weights> train_acceptance_head(const AcceptanceData& data, const AcceptanceSettings& settings,
                                      const std::stop_token& stop) {
  const auto hidden = static_cast<int32_t>(data.train.states.size(1));
  const Weights first =
      Weights::random(acceptance_tensors(hidden, settings.layers), std::max(1, settings.layers), settings.seed);
  const Weights there = first.on(settings.device);
  TRY_VOID(descend(there, data, settings, stop));
  Weights weights = there.on(at::kCPU);
  calibrate(weights, data.calibrate, settings);
  return weights;
}

Result<void> write_acceptance_folder(const DrafterPath& drafter, const Weights& weights) {
  const std::filesystem::path folder = acceptance_folder(drafter.path());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("cannot make the folder {}: {}", folder.string(), error.message());
  TRY(const uint64_t hash, drafter.hash());
  return write_safetensors(folder / "model.safetensors", Bf16Tensors(weights).stored(),
                           {{kAcceptanceDrafterKey, fmt::format("{:016x}", hash)}});
}

}  // namespace slipstream::train
