#include "tools/train/checkpoint_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "common/checkpoint/safetensors.h"
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

Result<void> write_checkpoint(const std::filesystem::path& path, const TrainingState& state, const Conditions& conditions) {
  std::vector<StoredTensor> tensors;
  for (const Parameter& parameter : state.weights.all()) {
    tensors.push_back(stored(kWeight + parameter.spec.name, parameter.value));
  }
  for (const AdamW::Moments& moments : state.optimizer.moments()) {
    tensors.push_back(stored(kMean + moments.name, moments.mean));
    tensors.push_back(stored(kMeanSquared + moments.name, moments.mean_squared));
  }
  Conditions metadata = conditions;
  metadata[kStepField] = std::to_string(state.steps_done);
  return write_safetensors(path, tensors, metadata);
}

Result<int64_t> read_checkpoint(const std::filesystem::path& path, const Weights& weights, AdamW& optimizer,
                                const Expected& expected) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  const Conditions before(file.metadata().begin(), file.metadata().end());
  TRY_VOID(check_conditions(path.string(), before, expected.conditions));
  const std::string steps = before.contains(kStepField) ? before.at(kStepField) : "";
  int64_t done = -1;
  std::from_chars(steps.data(), steps.data() + steps.size(), done);
  std::vector<std::pair<const TensorEntry*, at::Tensor>> copies;
  for (const Parameter& parameter : weights.all()) {
    copies.emplace_back(matching(file, kWeight + parameter.spec.name, parameter.value), parameter.value);
  }
  for (const AdamW::Moments& moments : optimizer.moments()) {
    copies.emplace_back(matching(file, kMean + moments.name, moments.mean), moments.mean);
    copies.emplace_back(matching(file, kMeanSquared + moments.name, moments.mean_squared), moments.mean_squared);
  }
  const bool whole = std::ranges::all_of(copies, [](const auto& copy) { return copy.first != nullptr; });
  if (done < 0 || done > expected.steps_max || !whole) {
    return fail("{} is no checkpoint of this model: remove it to begin anew", path.string());
  }
  for (const auto& [entry, tensor] : copies) {
    std::memcpy(tensor.mutable_data_ptr<float>(), entry->bytes.data(), entry->bytes.size());
  }
  optimizer.set_steps(done);
  return done;
}

}  // namespace slipstream::train
