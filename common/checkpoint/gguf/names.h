// How GGUF calls the tensors of a Llama-family model that Hugging Face calls otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/checkpoint/llama_config.h"

namespace slipstream {

// model.layers.3.self_attn.q_proj.weight -> blk.3.attn_q.weight. None: no such tensor is known.
std::optional<std::string> gguf_name(std::string_view hugging_face);

// Whether a model of this configuration has a tensor that GGUF calls so.
bool gguf_name_is_of(std::string_view gguf, const LlamaConfig& config);

}  // namespace slipstream
