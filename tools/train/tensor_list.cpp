#include "tools/train/tensor_list.h"

#include <fmt/format.h>

namespace slipstream::train {

std::vector<TensorSpec> block_tensors(const LlamaConfig& config, const std::string& prefix) {
  const int32_t q = config.heads * config.head_size, kv = config.kv_heads * config.head_size;
  const std::string attention = prefix + "self_attn.", mlp = prefix + "mlp.";
  std::vector<TensorSpec> tensors{
      {prefix + "input_layernorm.weight", TensorRole::gain, 1, config.hidden},
      {attention + "q_proj.weight", TensorRole::matrix, q, config.hidden},
      {attention + "k_proj.weight", TensorRole::matrix, kv, config.hidden},
      {attention + "v_proj.weight", TensorRole::matrix, kv, config.hidden},
  };
  if (config.qkv_bias) {
    tensors.push_back({attention + "q_proj.bias", TensorRole::bias, 1, q});
    tensors.push_back({attention + "k_proj.bias", TensorRole::bias, 1, kv});
    tensors.push_back({attention + "v_proj.bias", TensorRole::bias, 1, kv});
  }
  if (config.head_norms) {
    tensors.push_back({attention + "q_norm.weight", TensorRole::gain, 1, config.head_size});
    tensors.push_back({attention + "k_norm.weight", TensorRole::gain, 1, config.head_size});
  }
  tensors.push_back({attention + "o_proj.weight", TensorRole::output, config.hidden, q});
  if (config.out_bias) tensors.push_back({attention + "o_proj.bias", TensorRole::bias, 1, config.hidden});
  tensors.push_back({prefix + "post_attention_layernorm.weight", TensorRole::gain, 1, config.hidden});
  tensors.push_back({mlp + "gate_proj.weight", TensorRole::matrix, config.intermediate, config.hidden});
  tensors.push_back({mlp + "up_proj.weight", TensorRole::matrix, config.intermediate, config.hidden});
  tensors.push_back({mlp + "down_proj.weight", TensorRole::output, config.hidden, config.intermediate});
  return tensors;
}

std::vector<TensorSpec> llama_tensors(const LlamaConfig& config) {
  std::vector<TensorSpec> tensors{{"model.embed_tokens.weight", TensorRole::embedding, config.vocabulary, config.hidden}};
  for (int32_t layer = 0; layer < config.layers; ++layer) {
    for (TensorSpec& tensor : block_tensors(config, fmt::format("model.layers.{}.", layer))) {
      tensors.push_back(std::move(tensor));
    }
  }
  tensors.push_back({"model.norm.weight", TensorRole::gain, 1, config.hidden});
  if (!config.tied_embeddings) {
    tensors.push_back({"lm_head.weight", TensorRole::embedding, config.vocabulary, config.hidden});
  }
  return tensors;
}

}  // namespace slipstream::train
