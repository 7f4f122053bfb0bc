// The Llama family of networks: RMS norm, grouped-query attention with rotary positions, gated
// SiLU; a tied or untied output head; optionally biases on the attention's projections (Qwen2) and
// norms on its heads (Qwen3), or attention to the last positions only (Mistral). Gemma 2 and 3 have
// norms behind each block as well, gated GELU, scaled embeddings, soft caps, and layers of two
// kinds: some see all positions, the others (local ones) the last only.
#pragma once

#include <functional>
#include <vector>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/llama_config.h"
#include "common/model/device.h"

namespace slipstream {

struct WeightLoader;

struct LlamaOptions {
  int32_t rows_max = 0;            // rows of a step
  int32_t cache_blocks = 0;        // for all sequences together
  int32_t positions = 0;           // the most of one sequence
  int32_t ranked = 0;              // candidates per wanted row; 0: sample its token
  bool screen_output = false;      // where the device can: the output layer is read in part where tokens alone are asked for
  bool fine_rows = false;          // rounded more finely for every matrix, not the output layer alone (Ops::linear_fine)
  std::vector<int32_t> taps = {};  // ascending: layers whose input is kept of each row (features()); `layers`: the final norm's
  std::function<void(uint64_t)> packed;  // called after each matrix with its size in the file, in bytes
};

class Llama final : public Network {
 public:
  // Packs all weights onto the device, which owns them and must outlive the model. The checkpoint
  // is not needed afterwards.
  static Result<Llama> load(const Checkpoint& checkpoint, const LlamaConfig& config, Device& device,
                            const LlamaOptions& options);

  // Its embedding and its output layer alone, for a draft head in a process of its own. It has no
  // cache, and forward() must not be called.
  static Result<Llama> load_ends(const Checkpoint& checkpoint, const LlamaConfig& config, Device& device,
                                 const std::function<void(uint64_t)>& packed);

  // Whether load() would find all tensors in their shapes. Reads and packs none of them.
  static Result<void> check_weights(const Checkpoint& checkpoint, const LlamaConfig& config);

  void forward(Ops& ops, Shape shape) const override;
  std::span<KvCache* const> caches() const override { return {&cache_, cache_ == nullptr ? 0U : 1U}; }
  std::span<const Weight* const> weights() const { return weights_; }  // all, for Device::numerics_id

  const Weight* embedding() const { return embedding_; }
  const Weight* output() const { return head_; }  // [vocabulary, hidden]

  // The last step's results: the first Shape::wanted rows. The model either samples or ranks; the
  // other tensor has no data.
  Tensor logits() const { return buffers_.logits; }                  // [rows_max, vocabulary] f32
  Tensor sampled_tokens() const { return buffers_.sampled_tokens; }  // [rows_max, 1] i32
  Tensor ranked() const { return buffers_.ranked; }                  // [rows_max, ranked * kRankedWords]
  Tensor states() const { return buffers_.wanted_normed; }  // [rows_max, hidden] on the device: the output layer's input
  Tensor features() const { return buffers_.features; }     // [rows_max, taps * hidden] f32, of all rows

 private:
  struct Layer {
    Weight *input_norm, *qkv, *attention_out, *mlp_norm, *gate_up, *down;
    Weight *qkv_bias, *out_bias, *query_norm, *key_norm, *attention_post_norm, *mlp_post_norm;  // null: it has none
    const RopeTable* rope;
    AttentionRules rules;
  };
  struct Buffers {
    Tensor residual, delta, normed;                       // [rows, hidden]
    Tensor qkv, heads;                                    // [rows, (heads + 2 kv_heads) head_size], [rows, heads head_size]
    Tensor gate_up, gated;                                // [rows, 2 intermediate], [rows, intermediate]
    Tensor wanted_residual, wanted_delta, wanted_normed;  // [wanted, hidden]
    Tensor logits, sampled_tokens, ranked;                // [wanted, vocabulary]; one of [wanted, 1] and [wanted, candidates]
    Tensor features;                                      // [rows, taps * hidden]; no data: nothing is tapped
  };

  Result<void> load_weights(const WeightLoader& load, const LlamaConfig& config);
  static Result<Layer> load_layer(const WeightLoader& load, const LlamaConfig& config, int index);
  static Result<void> load_norms(const WeightLoader& load, const LlamaConfig& config, const std::string& at, Layer& layer);
  void attend(Ops& ops, const Layer& layer, int index, const Buffers& at) const;
  void feed_forward(Ops& ops, const Layer& layer, const Buffers& at) const;
  void linear(Ops& ops, Tensor in, const Weight& weight, const Weight* bias, Tensor out) const;
  void tap(Ops& ops, int32_t layer, const Buffers& at) const;
  static Result<Buffers> make_buffers(const LlamaConfig& config, Device& device, const LlamaOptions& options);
  Buffers cut(Shape shape) const;  // views of the buffers' first rows

  float eps_ = 0, embedding_scale_ = 1;
  float logits_soft_cap_ = 0;  // 0: none
  bool gelu_ = false, fine_rows_ = false;
  int32_t heads_ = 0, kv_heads_ = 0;
  std::vector<int32_t> taps_;
  std::vector<Layer> layers_;
  Weight *embedding_ = nullptr, *final_norm_ = nullptr, *head_ = nullptr;
  OutputScreen* screen_ = nullptr;  // null: there is none
  std::vector<const Weight*> weights_;
  KvCache* cache_ = nullptr;
  Buffers buffers_;
};

}  // namespace slipstream
