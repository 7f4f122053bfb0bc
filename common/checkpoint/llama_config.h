// The configuration of a Llama-family model (Llama, Mistral, Qwen2, Qwen3, Gemma 2, Gemma 3): a
// plain struct whose numbers were checked when it was read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace slipstream {

// Limits on what a config may ask for: far above any Llama, and far below sizes whose products
// overflow.
inline constexpr int32_t kHiddenMax = 32768;  // also heads * head_size
inline constexpr int32_t kIntermediateMax = 131072;
inline constexpr int32_t kLayersMax = 512;
inline constexpr int32_t kHeadsMax = 512;
inline constexpr int32_t kHeadSizeMax = 512;
inline constexpr int32_t kVocabularyMax = 1 << 20;
inline constexpr int32_t kPositionsMax = 1 << 30;  // a file may claim this many; at most kContextTokensMax are used
inline constexpr double kRmsEpsMin = 1e-12, kRmsEpsMax = 1.0;
inline constexpr double kRopeFactorMin = 1e-3, kRopeFactorMax = 1e4, kRopeBetaMin = 1e-3;
inline constexpr double kRopeThetaMin = 1.0, kRopeThetaMax = 1e9;
inline constexpr double kSoftCapMin = 1e-3, kSoftCapMax = 1e6;
inline constexpr double kQueryScalarMin = 1e-3, kQueryScalarMax = 1e6;

// Llama 3.1's scaling of the rotary frequencies ("rope_type": "llama3").
struct Llama3Scaling {
  float factor = 8.0F, low_freq_factor = 1.0F, high_freq_factor = 4.0F;
  int32_t original_context = 8192;  // tokens
};

// YaRN's scaling of the rotary frequencies (2309.00071, section 3.2; "rope_type": "yarn").
struct YarnScaling {
  float factor = 1.0F;
  float beta_fast = 32.0F, beta_slow = 1.0F;  // rotations within original_context from which a frequency stays, or is divided
  float attention_factor = 1.0F;              // of the rotated numbers
  int32_t original_context = 0;               // tokens
  bool whole_pairs = true;                    // the range between both is rounded to whole pairs ("truncate")

  // The attention factor where a file names none.
  static float usual_attention_factor(float factor);
};

struct LlamaConfig {
  int32_t hidden = 0, intermediate = 0, layers = 0;
  int32_t heads = 0, kv_heads = 0, head_size = 0;
  int32_t vocabulary = 0;
  int32_t context_max = 0;  // tokens; what the model was trained for, at most kContextTokensMax
  int32_t attention_window =
      0;  // of local layers: tokens that a token sees, itself included, if fewer than the context; 0: all
  int32_t full_attention_every =
      0;  // of so many layers the last sees all tokens, the others are local (Gemma); 0: all are local
  float rms_eps = 1e-5F;
  float rope_theta = 10000.0F;
  float local_rope_theta = 0;  // that of local layers, which then have no scaling (Gemma 3); 0: they rotate as all do
  float rope_divisor = 1.0F;   // of all rotary frequencies (linear scaling)
  std::optional<Llama3Scaling> llama3;
  std::optional<YarnScaling> yarn;
  std::vector<float> rope_divisors;  // [head_size / 2] divisors of the rotary frequencies (GGUF's rope_freqs), or empty
  bool tied_embeddings = false;      // the output head is the embedding table
  bool qkv_bias = false;             // the query, key and value projections have a bias (Qwen2)
  bool out_bias = false;             // the attention's output projection has a bias
  bool head_norms = false;           // each head of q and k is normalised before it is rotated (Qwen3, Gemma 3)
  bool post_norms = false;           // what attention and MLP give is normalised before it is added to the residual (Gemma)
  bool gelu = false;                 // the gate is GELU by tanh (Gemma), not SiLU
  float norm_offset = 0;             // added to the weights of norms: 1 where they are stored without it (Gemma's folders)
  float embedding_scale = 1;         // of what the embedding table gives (Gemma)
  float score_scale = 0;             // of attention scores; 0: 1 / sqrt(head_size)
  float attention_soft_cap = 0;      // scores become cap * tanh(score / cap) (Gemma 2); 0: they stay
  float logits_soft_cap = 0;         // likewise of logits
  std::vector<TokenId> eos_ids;      // the tokens that end an answer; ascending

  bool is_local(int32_t layer) const { return full_attention_every == 0 || (layer + 1) % full_attention_every != 0; }
};

// Reads the configuration of a Hugging Face folder (hf_config.h) or a GGUF file (gguf/config.h).
// Errors name the file, the field and what is supported.
Result<LlamaConfig> read_llama_config(const std::filesystem::path& model);

// For the two readers. A window that no context is longer than is none.
void set_window(int64_t window, LlamaConfig& config);
// For the two readers. Checks the sizes against each other, after each was checked against its own
// limits. `what`: the file.
Result<void> check_llama_shape(const LlamaConfig& config, const std::string& what);
// The ids in ascending order, without duplicates. An error if there are none or too many, or one is
// not in [0, vocabulary); `field` names their place in the file.
Result<std::vector<TokenId>> checked_eos(std::vector<int64_t> ids, int32_t vocabulary, const std::string& field);

}  // namespace slipstream
