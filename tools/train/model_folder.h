// Writes a trained model as a Hugging Face folder, which LanguageModel loads.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/checkpoint/llama_config.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// An error if LlamaModule does not compute such a model.
Result<void> check_trainable(const LlamaConfig& config);

// The text of a config.json from which read_hf_config() reads this configuration. An error if no
// config.json can say it (a GGUF file's divisors of the rotary frequencies), and those of
// check_trainable().
Result<std::string> hf_config_json(const LlamaConfig& config);

// Writes config.json, the tokenizer and chat template of `source` (a folder or a GGUF file), and
// last the weights in bf16. An error leaves no model.safetensors, or the former one.
Result<void> write_model_folder(const std::filesystem::path& folder, const LlamaConfig& config, const Weights& weights,
                                const std::filesystem::path& source);

}  // namespace slipstream::train
