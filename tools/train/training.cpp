#include "tools/train/training.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "common/checkpoint/safetensors.h"
#include "tools/train/gradient_clip.h"
#include "tools/train/next_token_loss.h"
#include "tools/train/safetensors_writer.h"

namespace slipstream::train {
namespace {

constexpr const char* kStepField = "steps done";
// Before the names of weights in a checkpoint.
constexpr const char *kWeight = "weight.", *kMean = "mean.", *kMeanSquared = "mean_squared.";

StoredTensor stored(const std::string& name, const at::Tensor& tensor) {
  return {.name = name,
          .dtype = "F32",
          .shape = tensor.sizes().vec(),
          .bytes = std::as_bytes(std::span(tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())))};
}

// The tensor of that name, if it has the type and shape of `like`.
const TensorEntry* matching(const SafetensorsFile& file, const std::string& name, const at::Tensor& like) {
  const auto at = file.tensors().find(name);
  if (at == file.tensors().end() || at->second.dtype != "F32") return nullptr;
  return std::ranges::equal(at->second.shape, like.sizes()) ? &at->second : nullptr;
}

Result<void> check_conditions(const std::string& path, const Conditions& before, const Conditions& now) {
  for (const auto& [name, value] : now) {
    const auto at = before.find(name);
    if (at == before.end()) return fail("{} says nothing of \"{}\": it is no checkpoint of this version", path, name);
    if (at->second != value) {
      return fail("{} was begun with {} = {}, and now {} = {}: go on with what it was begun with, or train into another folder",
                  path, name, at->second, name, value);
    }
  }
  return {};
}

}  // namespace

Training::Training(const LlamaConfig& config, Weights weights, Sequences sequences, const TrainingSettings& settings)
    : settings_(settings),
      schedule_{.peak = settings.learning_rate, .warmup_steps = settings.warmup_steps, .steps = settings.steps},
      weights_(std::move(weights)),
      model_(config, weights_, sequences.length(), settings.bf16 ? at::kBFloat16 : at::kFloat),
      optimizer_(weights_, {.decay = settings.decay}),
      sequences_(std::move(sequences)) {}

at::Tensor Training::tokens_of(Sequences& data, int64_t first, int64_t count) const {
  at::Tensor tokens = at::empty({count, data.length() + 1}, at::kLong);
  auto* to = tokens.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) to = std::ranges::copy(data.at(first + i), to).out;
  return tokens;
}

Result<StepReport> Training::step() {
  StepReport report{.step = steps_done_ + 1, .learning_rate = learning_rate(schedule_, steps_done_)};
  for (int64_t done = 0; done < settings_.batch; done += settings_.micro_batch) {
    const at::Tensor tokens = tokens_of(sequences_, steps_done_ * settings_.batch + done, settings_.micro_batch);
    report.loss += next_token_loss_backward(model_, tokens, static_cast<double>(tokens_of_a_step()));
  }
  report.gradient_norm = clip_gradients(weights_, settings_.clip);
  if (!std::isfinite(report.loss) || !std::isfinite(report.gradient_norm)) {
    optimizer_.clear_gradients();
    return fail(
        "step {}: the loss is {} and the norm of its gradients {}: lower --learning-rate, which is {}, or raise "
        "--warmup-steps, which is {}; if it was so from the first step, the first weights or the data are broken",
        report.step, report.loss, report.gradient_norm, settings_.learning_rate, settings_.warmup_steps);
  }
  optimizer_.step(report.learning_rate);
  optimizer_.clear_gradients();
  ++steps_done_;
  return report;
}

double Training::held_out_loss(Sequences& data, int64_t sequences_max) const {
  const int64_t count = std::min(data.count(), sequences_max);
  double loss = 0;
  for (int64_t at = 0; at < count; at += settings_.micro_batch) {
    const at::Tensor tokens = tokens_of(data, at, std::min(settings_.micro_batch, count - at));
    loss += next_token_loss(model_, tokens, static_cast<double>(count * data.length()));
  }
  return loss;
}

Result<void> Training::save(const std::filesystem::path& checkpoint, const Conditions& conditions) const {
  std::vector<StoredTensor> tensors;
  for (const Parameter& parameter : weights_.all()) tensors.push_back(stored(kWeight + parameter.spec.name, parameter.value));
  for (const AdamW::Moments& moments : optimizer_.moments()) {
    tensors.push_back(stored(kMean + moments.name, moments.mean));
    tensors.push_back(stored(kMeanSquared + moments.name, moments.mean_squared));
  }
  Conditions metadata = conditions;
  metadata[kStepField] = std::to_string(steps_done_);
  return write_safetensors(checkpoint, tensors, metadata);
}

Result<void> Training::restore(const std::filesystem::path& checkpoint, const Conditions& conditions) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(checkpoint));
  const Conditions before(file.metadata().begin(), file.metadata().end());
  TRY_VOID(check_conditions(checkpoint.string(), before, conditions));
  const std::string steps = before.contains(kStepField) ? before.at(kStepField) : "";
  int64_t done = -1;
  std::from_chars(steps.data(), steps.data() + steps.size(), done);
  std::vector<std::pair<const TensorEntry*, at::Tensor>> copies;
  for (const Parameter& parameter : weights_.all()) {
    copies.emplace_back(matching(file, kWeight + parameter.spec.name, parameter.value), parameter.value);
  }
  for (const AdamW::Moments& moments : optimizer_.moments()) {
    copies.emplace_back(matching(file, kMean + moments.name, moments.mean), moments.mean);
    copies.emplace_back(matching(file, kMeanSquared + moments.name, moments.mean_squared), moments.mean_squared);
  }
  const bool whole = std::ranges::all_of(copies, [](const auto& copy) { return copy.first != nullptr; });
  if (done < 0 || done > settings_.steps || !whole) {
    return fail("{} is no checkpoint of this model: remove it to begin anew", checkpoint.string());
  }
  for (const auto& [entry, tensor] : copies) {
    std::memcpy(tensor.mutable_data_ptr<float>(), entry->bytes.data(), entry->bytes.size());
  }
  steps_done_ = done;
  optimizer_.set_steps(done);
  return {};
}

}  // namespace slipstream::train
