#include "tools/train/head_config.h"

#include <algorithm>

namespace slipstream::train {

std::vector<int32_t> default_taps(const LlamaConfig& target) {
  const int32_t last = std::max(0, target.layers - 1);
  std::vector<int32_t> taps{std::min(2, last), target.layers / 2, std::max(0, target.layers - 3)};
  std::ranges::sort(taps);
  taps.erase(std::ranges::unique(taps).begin(), taps.end());
  return taps;
}

std::vector<int32_t> taps_with_final(const std::vector<int32_t>& taps, const LlamaConfig& target) {
  std::vector<int32_t> all = taps.empty() ? default_taps(target) : taps;
  all.push_back(target.layers);
  return all;
}

std::vector<TensorSpec> head_tensors(const HeadConfig& config) {
  const int32_t hidden = config.target.hidden, intermediate = config.target.intermediate;
  const int32_t query = config.target.heads * config.target.head_size, key = config.target.kv_heads * config.target.head_size;
  return {{"fc.weight", TensorRole::matrix, hidden, static_cast<int32_t>(config.width())},
          {"midlayer.input_layernorm.weight", TensorRole::gain, 1, hidden},
          {"midlayer.hidden_norm.weight", TensorRole::gain, 1, hidden},
          {"midlayer.self_attn.q_proj.weight", TensorRole::matrix, query, 2 * hidden},
          {"midlayer.self_attn.k_proj.weight", TensorRole::matrix, key, 2 * hidden},
          {"midlayer.self_attn.v_proj.weight", TensorRole::matrix, key, 2 * hidden},
          {"midlayer.self_attn.o_proj.weight", TensorRole::output, hidden, query},
          {"midlayer.post_attention_layernorm.weight", TensorRole::gain, 1, hidden},
          {"midlayer.mlp.gate_proj.weight", TensorRole::matrix, intermediate, hidden},
          {"midlayer.mlp.up_proj.weight", TensorRole::matrix, intermediate, hidden},
          {"midlayer.mlp.down_proj.weight", TensorRole::output, hidden, intermediate},
          {"norm.weight", TensorRole::gain, 1, hidden},
          {"lm_head.weight", TensorRole::embedding, static_cast<int32_t>(config.vocabulary.size()), hidden}};
}

}  // namespace slipstream::train
