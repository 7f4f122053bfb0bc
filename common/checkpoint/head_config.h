// The configuration of a draft head: a folder with config.json and model.safetensors, in the form
// in which EAGLE-3 heads are published (2503.01840; docs/use/TRAIN.md has the tensors).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

inline constexpr size_t kHeadTapsMax = 8;

struct HeadConfig {
  LlamaConfig layer;                       // of its one decoder layer; vocabulary: the target's; eos_ids: none
  std::vector<int32_t> taps;               // layers of the target whose inputs it reads, ascending; empty: default_taps()
  std::vector<TokenId> tokens;             // [columns of its output] the target's token that each column stands for
  bool target_output = false;              // its output rows are the target's own, so the target's others fit it as well
  std::optional<uint64_t> target_weights;  // of the model that it was trained for (fingerprint.h); unset: it does not say
};

// The taps of a head whose config names none: near the bottom, in the middle and near the top, as
// EAGLE-3's code has them. REQUIRES: layers >= 6.
std::vector<int32_t> default_taps(int32_t layers);

// The folder of a model's draft head. chosen: as --head has it, a folder or kNoMethod; empty: the
// one beside the model, MODEL-head, if it is there. Returns an empty path where there is none.
std::filesystem::path head_folder(const std::string& model, const std::string& chosen);

// The same, where there must be one. by: what needs it, for the error, which says what to do.
Result<std::filesystem::path> needed_head(const std::string& model, const std::string& chosen, std::string_view by);

// Errors name the file, the field and what is supported.
Result<HeadConfig> read_head_config(const std::filesystem::path& folder);

}  // namespace slipstream
