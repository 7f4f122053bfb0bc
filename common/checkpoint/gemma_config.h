// What Gemma 2 and Gemma 3 compute otherwise than Llama: the part of their configurations that
// other models do not have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/checkpoint/json_file.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

enum class Gemma : uint8_t { two, three };

inline constexpr int32_t kGemmaHeadSize = 256;  // where a configuration names none
inline constexpr int32_t kGemma2Window = 4096;  // likewise
inline constexpr float kGemma3Theta = 1e6F, kGemma3LocalTheta = 1e4F;
inline constexpr float kGemma2AttentionSoftCap = 50.0F, kGemma2LogitsSoftCap = 30.0F;
// Of so many layers the last sees all tokens, where a configuration does not say which do.
constexpr int32_t usual_full_attention_every(Gemma version) { return version == Gemma::two ? 2 : 6; }

// For the two readers: norms around each block, GELU, embeddings times sqrt(hidden), head norms of
// Gemma 3. REQUIRES: the sizes are read.
void set_gemma(Gemma version, LlamaConfig& config);
// query_pre_attn_scalar: scores are divided by its root.
void set_query_scalar(double scalar, LlamaConfig& config);
// full_attention_every of a model whose layer i is local if local[i]; empty: the layers follow no
// such pattern.
std::optional<int32_t> full_attention_every(std::span<const bool> local);

// Which Gemma an architecture of Hugging Face is.
std::optional<Gemma> gemma_of(std::string_view architecture);
// Reads the rest of a Gemma's config.json, after its sizes and its RoPE (hf_fields.h).
Result<void> read_hf_gemma(const JsonFields& fields, Gemma version, LlamaConfig& config);

}  // namespace slipstream
