// Translates the names of a Llama-family model's tensors from Hugging Face's to GGUF's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/checkpoint/llama_config.h"

namespace slipstream {

// "model.layers.3.self_attn.q_proj.weight" -> "blk.3.attn_q.weight". nullopt: the name is unknown.
// post_norms: LlamaConfig's.
std::optional<std::string> gguf_name(std::string_view hugging_face, bool post_norms);

// Whether a model of this configuration has a tensor of this GGUF name.
bool gguf_name_is_of(std::string_view gguf, const LlamaConfig& config);

}  // namespace slipstream
