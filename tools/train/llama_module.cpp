#include "tools/train/llama_module.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/rms_norm.h>
#include <fmt/format.h>

namespace slipstream::train {

LlamaModule::LlamaModule(const LlamaConfig& config, const Weights& weights, int64_t length_max, at::ScalarType compute)
    : hidden_(config.hidden),
      eps_(config.rms_eps),
      compute_(compute),
      embedding_(weights.at("model.embed_tokens.weight")),
      final_norm_(weights.at("model.norm.weight")),
      head_(config.tied_embeddings ? embedding_ : weights.at("lm_head.weight")),
      rotary_(config, length_max, embedding_.device()) {
  for (int32_t layer = 0; layer < config.layers; ++layer) {
    blocks_.emplace_back(config, weights, fmt::format("model.layers.{}.", layer), compute);
  }
}

at::Tensor LlamaModule::hidden(const at::Tensor& tokens) const {
  at::Tensor residual = at::embedding(embedding_, tokens);
  for (const LlamaBlock& block : blocks_) residual = block.forward(residual, rotary_);
  return at::rms_norm(residual, {hidden_}, final_norm_, eps_);
}

at::Tensor LlamaModule::rows_before(const at::Tensor& tokens) const {
  return hidden(tokens.narrow(1, 0, tokens.size(1) - 1)).reshape({-1, hidden_});
}

at::Tensor LlamaModule::logits(const at::Tensor& hidden) const { return linear(hidden, head_, {}, compute_).to(at::kFloat); }

}  // namespace slipstream::train
