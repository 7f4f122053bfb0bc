#include "tools/train/checkpoint_file.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include "common/checkpoint/safetensors.h"
#include "tools/train/safetensors_writer.h"

namespace slipstream::train {
namespace {

constexpr const char *kStepField = "steps done", *kSecondsField = "seconds trained";
// Before the names of weights in a checkpoint.
constexpr const char *kWeight = "weight.", *kMean = "mean.", *kMeanSquared = "mean_squared.";

// `tensor` is on the host.
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

bool rounds(const std::string& name) {
  return name == kDeviceCondition || name == kThreadsCondition || name == kInstructionsCondition ||
         name == kMicroBatchCondition;
}

constexpr const char* kGoOn = "go on with what it was begun with, or train into another folder";

Result<void> check_conditions(const std::string& path, const Conditions& before, const Conditions& now) {
  const bool on_gpu = before.contains(kDeviceCondition) || now.contains(kDeviceCondition);
  for (const auto& [name, value] : now) {
    if (on_gpu && rounds(name)) continue;
    const auto at = before.find(name);
    if (at == before.end()) return fail("{} was begun without {}, and now {} = {}: {}", path, name, name, value, kGoOn);
    if (at->second != value) {
      return fail("{} was begun with {} = {}, and now {} = {}: {}", path, name, at->second, name, value, kGoOn);
    }
  }
  for (const auto& [name, value] : before) {
    const bool decides = name != kStepField && name != kSecondsField && !(on_gpu && rounds(name));
    if (decides && !now.contains(name)) {
      return fail("{} was begun with {} = {}, and now without: {}", path, name, value, kGoOn);
    }
  }
  return {};
}

template <class Number>
void read_number(const Conditions& fields, const char* name, Number& number) {
  const auto at = fields.find(name);
  if (at != fields.end()) std::from_chars(at->second.data(), at->second.data() + at->second.size(), number);
}

}  // namespace

Result<void> write_checkpoint(const std::filesystem::path& path, const TrainingState& state, const Conditions& conditions) {
  std::vector<at::Tensor> copies;  // on the host, while they are written
  std::vector<StoredTensor> tensors;
  const auto store = [&](const std::string& name, const at::Tensor& tensor) {
    tensors.push_back(stored(name, copies.emplace_back(tensor.detach().to(at::kCPU))));
  };
  for (const Parameter& parameter : state.weights.all()) store(kWeight + parameter.spec.name, parameter.value);
  for (const AdamW::Moments& moments : state.optimizer.moments()) {
    store(kMean + moments.name, moments.mean);
    store(kMeanSquared + moments.name, moments.mean_squared);
  }
  Conditions metadata = conditions;
  metadata[kStepField] = std::to_string(state.steps_done);
  metadata[kSecondsField] = std::to_string(state.seconds);
  return write_safetensors(path, tensors, metadata);
}

Result<Done> read_checkpoint(const std::filesystem::path& path, const Weights& weights, AdamW& optimizer,
                             const Expected& expected) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  const Conditions before(file.metadata().begin(), file.metadata().end());
  TRY_VOID(check_conditions(path.string(), before, expected.conditions));
  Done done{.steps = -1, .seconds = 0};
  read_number(before, kStepField, done.steps);
  read_number(before, kSecondsField, done.seconds);
  std::vector<std::pair<const TensorEntry*, at::Tensor>> copies;
  for (const Parameter& parameter : weights.all()) {
    copies.emplace_back(matching(file, kWeight + parameter.spec.name, parameter.value), parameter.value);
  }
  for (const AdamW::Moments& moments : optimizer.moments()) {
    copies.emplace_back(matching(file, kMean + moments.name, moments.mean), moments.mean);
    copies.emplace_back(matching(file, kMeanSquared + moments.name, moments.mean_squared), moments.mean_squared);
  }
  const bool whole = std::ranges::all_of(copies, [](const auto& copy) { return copy.first != nullptr; });
  if (done.steps < 0 || done.steps > expected.steps_max || !whole) {
    return fail("{} is no checkpoint of this model: remove it to begin anew", path.string());
  }
  const at::NoGradGuard no_gradients;
  for (const auto& [entry, tensor] : copies) {
    // from_blob() takes no const: the numbers are only read.
    auto* numbers = const_cast<std::byte*>(entry->bytes.data());
    tensor.copy_(at::from_blob(numbers, tensor.sizes(), at::kFloat));
  }
  optimizer.set_steps(done.steps);
  return done;
}

}  // namespace slipstream::train
