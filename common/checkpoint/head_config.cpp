#include "common/checkpoint/head_config.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "common/base/names.h"
#include "common/checkpoint/hf_fields.h"
#include "common/checkpoint/safetensors.h"

namespace slipstream {
namespace {

constexpr std::string_view kTaps = "eagle_aux_hidden_state_layer_ids";

Result<std::vector<int32_t>> read_taps(const JsonFields& fields) {
  if (!fields.has("eagle_config")) return {};
  TRY(const JsonFields eagle, fields.object("eagle_config"));
  if (!eagle.has(kTaps)) return {};
  TRY(const auto element, eagle.element(kTaps));
  simdjson::dom::array list;
  if (element.get_array().get(list) != simdjson::SUCCESS || list.size() < 1 || list.size() > kHeadTapsMax) {
    return fail("{}: \"{}\" must list 1 to {} layers", fields.what(), kTaps, kHeadTapsMax);
  }
  std::vector<int32_t> taps;
  for (const auto& each : list) {
    int64_t layer = -1;
    if (each.get_int64().get(layer) != simdjson::SUCCESS || layer < 0 || layer > kLayersMax ||
        (!taps.empty() && layer <= taps.back())) {
      return fail("{}: \"{}\" must list layers in ascending order", fields.what(), kTaps);
    }
    taps.push_back(static_cast<int32_t>(layer));
  }
  return taps;
}

// A hash is 64 bits, more than a JSON number holds, so it is written as hexadecimal digits.
Result<std::optional<uint64_t>> read_hash(const JsonFields& fields) {
  if (!fields.has("target_weights")) return std::nullopt;
  TRY(const std::string text, fields.string("target_weights"));
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail("{}: \"target_weights\" {:.40} is no hexadecimal number of 64 bits", fields.what(), text);
  }
  return hash;
}

// What our trainer says of the head's target; another's heads say nothing.
Result<void> read_target(const JsonFields& fields, HeadConfig& config) {
  if (!fields.has("slipstream")) return {};
  TRY(const JsonFields own, fields.object("slipstream"));
  TRY(config.target_weights, read_hash(own));
  TRY(config.target_output, own.boolean_or("target_output", false));
  return {};
}

// The target's token of each column: column c stands for token c + d2t[c]. A head without that
// tensor has a column for each token.
Result<std::vector<TokenId>> read_tokens(const std::filesystem::path& file, int32_t columns, int32_t vocabulary) {
  TRY(const SafetensorsFile tensors, SafetensorsFile::open(file));
  std::vector<TokenId> tokens(static_cast<size_t>(columns));
  const auto found = tensors.tensors().find("d2t");
  if (found == tensors.tensors().end() && columns != vocabulary) {
    return fail("{}: tensor d2t is missing, which says for which of the {} tokens its {} outputs stand", file.string(),
                vocabulary, columns);
  }
  if (found != tensors.tensors().end() &&
      (found->second.dtype != "I64" || found->second.shape != std::vector<int64_t>{columns})) {
    return fail("{}: tensor d2t must be [{}] of I64", file.string(), columns);
  }
  std::vector<bool> seen(static_cast<size_t>(vocabulary));
  for (int32_t column = 0; column < columns; ++column) {
    int64_t offset = 0;
    if (found != tensors.tensors().end()) {
      std::memcpy(&offset, found->second.bytes.data() + static_cast<size_t>(column) * sizeof offset, sizeof offset);
    }
    const bool near = offset > -kVocabularyMax && offset < kVocabularyMax;
    const int64_t token = near ? column + offset : -1;
    if (token < 0 || token >= vocabulary || seen[static_cast<size_t>(token)]) {
      return fail("{}: tensor d2t makes output {} token {}; each token of the target's {} may come once", file.string(), column,
                  token, vocabulary);
    }
    seen[static_cast<size_t>(token)] = true;
    tokens[static_cast<size_t>(column)] = static_cast<TokenId>(token);
  }
  return tokens;
}

}  // namespace

std::vector<int32_t> default_taps(int32_t layers) { return {2, layers / 2, layers - 3}; }

std::filesystem::path head_folder(const std::string& model, const std::string& chosen) {
  if (chosen == kNoMethod) return {};
  if (!chosen.empty()) return chosen;
  const std::filesystem::path beside = model + "-head";
  std::error_code ignored;
  return std::filesystem::is_directory(beside, ignored) ? beside : std::filesystem::path();
}

Result<std::filesystem::path> needed_head(const std::string& model, const std::string& chosen, std::string_view by) {
  std::filesystem::path folder = head_folder(model, chosen);
  if (!folder.empty()) return folder;
  return fail("{} needs the draft head of {}: name its folder (--head), or train one (docs/use/TRAIN.md)", by, model);
}

Result<HeadConfig> read_head_config(const std::filesystem::path& folder) {
  const auto path = folder / "config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail("{} holds no config.json: pass the folder of a draft head (slipstream-train head makes one)", folder.string());
  }
  TRY(const JsonText json, read_json_object(path));
  const JsonFields fields(json.root, path.string());
  TRY(const std::string architecture, read_hf_architecture(fields));
  if (architecture != "LlamaForCausalLMEagle3") {
    return fail("{}: {:.100} is no draft head; LlamaForCausalLMEagle3 is", path.string(), architecture);
  }
  HeadConfig config;
  TRY(config.layer, read_hf_shape(fields));
  if (config.layer.layers != 1) return fail("{}: a head of {} layers; 1 is supported", path.string(), config.layer.layers);
  TRY(const int64_t columns, fields.integer("draft_vocab_size", 1, config.layer.vocabulary));
  TRY(config.taps, read_taps(fields));
  TRY_VOID(read_target(fields, config));
  TRY(config.tokens, read_tokens(folder / "model.safetensors", static_cast<int32_t>(columns), config.layer.vocabulary));
  return config;
}

}  // namespace slipstream
