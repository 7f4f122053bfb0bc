// The Llama family, described once for serving: RMS norm, rotary attention with grouped heads,
// gated SiLU; tied or untied head; with biases on the attention's projections (Qwen2) or norms on
// its heads (Qwen3).
#pragma once

#include <functional>
#include <vector>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/llama_config.h"
#include "common/model/device.h"

namespace slipstream {

struct LlamaOptions {
  int32_t rows_max = 0;                  // of one step
  int32_t cache_blocks = 0;              // for all sequences together
  int32_t ranked = 0;                    // candidates a wanted row; 0: its one chosen token
  std::function<void(uint64_t)> packed;  // told after each matrix how many bytes it has as it is stored
};

class Llama final : public Network {
 public:
  // Packs all weights onto the device, which owns them and outlives the model; the checkpoint may
  // go afterwards.
  static Result<Llama> load(const Checkpoint& checkpoint, const LlamaConfig& config, Device& device,
                            const LlamaOptions& options);

  void forward(Ops& ops, Shape shape) const override;
  std::span<KvCache* const> caches() const override { return {&cache_, 1}; }
  std::span<const Weight* const> weights() const { return weights_; }  // all, for Device::numerics_id

  Tensor logits() const { return buffers_.logits; }  // [rows_max, vocabulary] f32: the first Shape::wanted rows are this step's
  Tensor sampled_tokens() const {
    return buffers_.sampled_tokens;
  }  // [rows_max, 1] i32, likewise; no data where candidates are ranked
  Tensor ranked() const { return buffers_.ranked; }  // [rows_max, ranked * kRankedWords], likewise; no data where one is chosen

 private:
  struct Loader;
  struct Layer {
    Weight *input_norm, *qkv, *attention_out, *mlp_norm, *gate_up, *down;
    Weight *qkv_bias, *out_bias, *query_norm, *key_norm;  // null: the model has none
  };
  struct Buffers {
    Tensor residual, delta, normed;                       // [rows, hidden]
    Tensor qkv, heads;                                    // [rows, (heads + 2 kv_heads) head_size], [rows, heads head_size]
    Tensor gate_up, gated;                                // [rows, 2 intermediate], [rows, intermediate]
    Tensor wanted_residual, wanted_delta, wanted_normed;  // [wanted, hidden]
    Tensor logits, sampled_tokens, ranked;                // [wanted, vocabulary]; one of [wanted, 1] and [wanted, candidates]
  };

  static Result<Layer> load_layer(const Loader& load, const LlamaConfig& config, int index);
  void attend(Ops& ops, const Layer& layer, int index, const Buffers& at) const;
  static Result<Buffers> make_buffers(const LlamaConfig& config, Device& device, const LlamaOptions& options);
  Buffers cut(Shape shape) const;  // the buffers' first rows

  float eps_ = 0;
  int32_t heads_ = 0, kv_heads_ = 0;
  std::vector<Layer> layers_;
  Weight *embedding_ = nullptr, *final_norm_ = nullptr, *head_ = nullptr;
  std::vector<const Weight*> weights_;
  RopeTable* rope_ = nullptr;
  KvCache* cache_ = nullptr;
  Buffers buffers_;
};

}  // namespace slipstream
