#include "tools/train/head_folder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/all.h>
#include <ATen/ops/empty.h>
#include <nlohmann/json.hpp>

#include "common/base/write_whole.h"
#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/safetensors.h"
#include "tools/train/bf16_tensors.h"

namespace slipstream::train {
namespace {

constexpr const char *kFuse = "fc.weight", *kOutput = "lm_head.weight";
constexpr const char* kWeightsFile = "model.safetensors";

// The shortest number that reads back as the same float.
double shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

at::Tensor tensor_of(const std::vector<float>& numbers) {
  at::Tensor values = at::empty({static_cast<int64_t>(numbers.size())});
  std::ranges::copy(numbers, values.mutable_data_ptr<float>());
  return values;
}

// What is added to a row's index to get the target's id.
std::vector<int64_t> offsets_of(const std::vector<TokenId>& vocabulary) {
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < vocabulary.size(); ++i) offsets.push_back(vocabulary[i] - static_cast<int64_t>(i));
  return offsets;
}

// The draft vocabulary of a folder's head, ascending.
Result<std::vector<TokenId>> stored_vocabulary(const std::filesystem::path& path, int32_t vocabulary) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  const auto stored = file.tensors().find("d2t");
  std::vector<TokenId> tokens;
  if (stored != file.tensors().end() && stored->second.dtype == "I64") {
    for (size_t at = 0; at < stored->second.bytes.size(); at += sizeof(int64_t)) {
      int64_t offset = 0;
      std::memcpy(&offset, stored->second.bytes.data() + at, sizeof(offset));
      tokens.push_back(static_cast<TokenId>(offset + static_cast<int64_t>(tokens.size())));
    }
  }
  if (tokens.empty() || !std::ranges::is_sorted(tokens) || tokens.front() < 0 || tokens.back() >= vocabulary) {
    return fail("{} has no tensor d2t that maps a draft vocabulary, in ascending order, into the target's", path.string());
  }
  return tokens;
}

// Up to their rounding to bf16.
bool are_the_targets(const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor own = output.to(at::kCPU), error = (own - target.to(at::kCPU)).abs();
  return at::all(error <= own.abs() * 0x1p-8).item<bool>();
}

// A head's configuration without what may differ between heads of one shape; no object if it is not
// readable.
nlohmann::json shape_in(const std::string& config) {
  nlohmann::json json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json["slipstream"].is_object()) json["slipstream"].erase("target_output");
  return json;
}

}  // namespace

std::string head_config_json(const HeadFile& head, bool target_output) {
  const LlamaConfig& target = head.config.target;
  const nlohmann::ordered_json json{
      {"architectures", nlohmann::ordered_json::array({"LlamaForCausalLMEagle3"})},
      {"model_type", "llama"},
      {"hidden_act", "silu"},
      {"hidden_size", target.hidden},
      {"intermediate_size", target.intermediate},
      {"num_hidden_layers", 1},
      {"num_attention_heads", target.heads},
      {"num_key_value_heads", target.kv_heads},
      {"head_dim", target.head_size},
      {"rms_norm_eps", shortest(target.rms_eps)},
      {"rope_theta", shortest(target.rope_theta)},
      {"vocab_size", target.vocabulary},
      {"draft_vocab_size", head.config.vocabulary.size()},
      {"max_position_embeddings", target.context_max},
      {"tie_word_embeddings", false},
      {"dtype", "bfloat16"},
      {"eagle_config", {{"eagle_aux_hidden_state_layer_ids", head.config.taps}}},
      {"slipstream", {{"target_weights", fmt::format("{:016x}", head.target_weights)}, {"target_output", target_output}}}};
  return json.dump(2) + '\n';
}

Result<void> write_head_folder(const std::filesystem::path& folder, const HeadFile& head, const at::Tensor& output,
                               const Weights& weights) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("cannot make the folder {}: {}", folder.string(), error.message());
  const at::NoGradGuard no_gradients;
  const std::string json = head_config_json(head, are_the_targets(weights.at(kOutput), output));
  TRY_VOID(replace_whole((folder / "config.json").string(), json, "the head's configuration"));
  Bf16Tensors rounded;
  for (const Parameter& parameter : weights.all()) {
    const bool fuse = parameter.spec.name == kFuse;
    rounded.add(parameter.spec.name, fuse ? parameter.value.to(at::kCPU) / tensor_of(head.scales) : parameter.value);
  }
  std::vector<StoredTensor> tensors = rounded.stored();
  const std::vector<int64_t> offsets = offsets_of(head.config.vocabulary);
  tensors.push_back({.name = "d2t",
                     .dtype = "I64",
                     .shape = {static_cast<int64_t>(offsets.size())},
                     .bytes = std::as_bytes(std::span(offsets))});
  return write_safetensors(folder / kWeightsFile, tensors, {{"format", "pt"}});
}

Result<Weights> read_head_folder(const std::filesystem::path& folder, const HeadFile& head, const at::Tensor& output) {
  HeadConfig config = head.config;
  TRY(config.vocabulary, stored_vocabulary(folder / kWeightsFile, config.target.vocabulary));
  std::ostringstream json;
  json << std::ifstream(folder / "config.json", std::ios::binary).rdbuf();
  const HeadFile same{.config = config, .scales = head.scales, .target_weights = head.target_weights};
  const nlohmann::json stored_shape = shape_in(json.str());
  if (!stored_shape.is_object() || stored_shape != shape_in(head_config_json(same, false))) {
    return fail("{} is a head of another target, of another shape or of other layers than this training's", folder.string());
  }
  TRY(const Checkpoint checkpoint, Checkpoint::open(folder));
  TRY(const Weights stored, Weights::load(checkpoint, head_tensors(config)));
  const at::NoGradGuard no_gradients;
  Weights weights = Weights::random(head_tensors(head.config), /*layers=*/1, /*seed=*/0);
  for (const Parameter& parameter : weights.all()) {
    if (parameter.spec.name != kOutput) parameter.value.copy_(stored.at(parameter.spec.name));
  }
  weights.at(kFuse).mul_(tensor_of(head.scales));
  weights.at(kOutput).copy_(output);
  for (size_t row = 0; row < head.config.vocabulary.size(); ++row) {
    const auto at = std::ranges::lower_bound(config.vocabulary, head.config.vocabulary[row]);
    if (at == config.vocabulary.end() || *at != head.config.vocabulary[row]) continue;
    weights.at(kOutput)[static_cast<int64_t>(row)].copy_(stored.at(kOutput)[at - config.vocabulary.begin()]);
  }
  return weights;
}

}  // namespace slipstream::train
