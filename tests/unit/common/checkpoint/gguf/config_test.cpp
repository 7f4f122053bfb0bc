#include "common/checkpoint/gguf/config.h"

#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GgufConfig : public testing::Test {
 protected:
  Result<LlamaConfig> read(const GgufWriter& writer) {
    folder_.write("x.gguf", writer.bytes());
    return read_llama_config(folder_.path() / "x.gguf");
  }
  std::string refusal(const GgufWriter& writer) {
    const auto config = read(writer);
    return config ? "accepted" : config.error().message;
  }
  Folder folder_;
};

TEST_F(GgufConfig, ReadsSizesAndFillsInWhatIsUsual) {
  const auto config = read(small_gguf());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->hidden, 32);
  EXPECT_EQ(config->intermediate, 32);
  EXPECT_EQ(config->layers, 1);
  EXPECT_EQ(config->heads, 2);
  EXPECT_EQ(config->kv_heads, 1);
  EXPECT_EQ(config->head_size, 16);
  EXPECT_EQ(config->vocabulary, 8);
  EXPECT_EQ(config->context_max, 64);
  EXPECT_EQ(config->rms_eps, 1e-5F);
  EXPECT_EQ(config->rope_theta, 10000.0F);
  EXPECT_TRUE(config->tied_embeddings);
  EXPECT_THAT(config->eos_ids, ElementsAre(0));
  EXPECT_TRUE(config->rope_divisors.empty());
}

TEST_F(GgufConfig, KnowsTheMembersOfTheFamilyApart) {
  const auto flags = [&](const char* architecture, bool biases) {
    GgufWriter writer = small_gguf({.architecture = architecture});
    if (biases) writer.tensor("blk.0.attn_q.bias", 0, {32}, std::string(128, '\1'));
    const LlamaConfig config = read(writer).value();
    EXPECT_FALSE(config.post_norms || config.gelu);
    return std::array{config.qkv_bias, config.out_bias, config.head_norms};
  };
  EXPECT_THAT(flags("llama", false), ElementsAre(false, false, false));
  EXPECT_THAT(flags("llama", true), ElementsAre(true, false, false));
  EXPECT_THAT(flags("qwen2", false), ElementsAre(true, false, false));
  EXPECT_THAT(flags("qwen3", false), ElementsAre(false, false, true));
}

TEST_F(GgufConfig, TakesTheEndsOfTextTurnAndMessage) {
  GgufWriter writer = small_gguf();
  writer.u32("tokenizer.ggml.eot_token_id", 5).u32("tokenizer.ggml.eom_token_id", 3);
  EXPECT_THAT(read(writer)->eos_ids, ElementsAre(0, 3, 5));
  GgufWriter none = small_fields();
  add_small_tensors(none);
  EXPECT_THAT(refusal(none), HasSubstr("end tokens lists 0 ids"));
  GgufWriter beyond = small_gguf();
  EXPECT_THAT(refusal(beyond.u32("tokenizer.ggml.eot_token_id", 8)), HasSubstr("eot_token_id is 8, supported are 0 to 7"));
}

TEST_F(GgufConfig, CapsTheContextAtOurOwnLimit) {
  GgufWriter writer = small_gguf({.architecture = "qwen2"});
  writer.u32("llama.context_length", 1 << 20);  // another architecture's: not read
  EXPECT_EQ(read(writer)->context_max, 64);
}

TEST_F(GgufConfig, TakesASlidingWindowWhereTheContextIsLonger) {
  const auto window = [&](uint32_t tokens) {
    const auto config = read(small_gguf().u32("llama.attention.sliding_window", tokens));
    EXPECT_EQ(config->context_max, 64);
    return config->attention_window;
  };
  EXPECT_EQ(window(0), 0);
  EXPECT_EQ(window(16), 16);
  EXPECT_EQ(window(4096), 0);
}

TEST_F(GgufConfig, ReadsLinearScalingUnderBothOfItsNames) {
  EXPECT_EQ(read(small_gguf().text("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4))->rope_divisor, 4);
  EXPECT_EQ(read(small_gguf().f32("llama.rope.scaling.factor", 4))->rope_divisor, 4) << "as llama.cpp takes it";
  EXPECT_EQ(read(small_gguf().f32("llama.rope.scale_linear", 2))->rope_divisor, 2);
  EXPECT_EQ(read(small_gguf().text("llama.rope.scaling.type", "none").f32("llama.rope.scaling.factor", 4))->rope_divisor, 1);
  EXPECT_EQ(read(small_gguf().text("llama.rope.scaling.type", "linear"))->rope_divisor, 1);
  EXPECT_THAT(refusal(small_gguf().f32("llama.rope.scaling.factor", 0)), HasSubstr("llama.rope.scaling.factor"));
}

TEST_F(GgufConfig, ReadsYarnScaling) {
  const auto yarn = [] { return small_gguf().text("llama.rope.scaling.type", "yarn").f32("llama.rope.scaling.factor", 4); };
  EXPECT_THAT(refusal(yarn()), HasSubstr("rope.scaling.original_context_length"));
  const auto usual = read(yarn().u32("llama.rope.scaling.original_context_length", 16))->yarn;
  ASSERT_TRUE(usual.has_value());
  EXPECT_EQ(usual->factor, 4);
  EXPECT_EQ(usual->original_context, 16);
  EXPECT_FLOAT_EQ(usual->attention_factor, 1.1386294F);  // 0.1 ln 4 + 1
  EXPECT_EQ(usual->beta_fast, 32);
  const auto own =
      read(yarn().u32("llama.rope.scaling.original_context_length", 16).f32("llama.rope.scaling.yarn_beta_fast", 8));
  EXPECT_EQ(own->yarn->beta_fast, 8);
  EXPECT_THAT(refusal(yarn().u32("llama.rope.scaling.original_context_length", 16).f32("llama.rope.scaling.attn_factor", 2)),
              HasSubstr("llama.rope.scaling.attn_factor 2 is not supported"));
}

TEST_F(GgufConfig, ReadsWhatEachFrequencyIsDividedBy) {
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += GgufWriter::raw(1.0F + static_cast<float>(i));
  EXPECT_THAT(read(small_gguf().tensor("rope_freqs.weight", 0, {8}, eight))->rope_divisors,
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(refusal(small_gguf().tensor("rope_freqs.weight", 0, {4}, eight.substr(16))), HasSubstr("must hold 8 numbers"));
  EXPECT_THAT(refusal(small_gguf().tensor("rope_freqs.weight", 0, {8}, std::string(32, '\0'))), HasSubstr("above 0"));
}

TEST_F(GgufConfig, KnowsWhatAGemma2Computes) {
  const auto config = read(small_gguf({.architecture = "gemma2"}));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->post_norms && config->gelu && !config->head_norms);
  EXPECT_EQ(config->norm_offset, 0) << "files hold 1 + w";
  EXPECT_EQ(config->embedding_scale, std::sqrt(32.0F));
  EXPECT_EQ(config->score_scale, 0);
  EXPECT_EQ(config->full_attention_every, 2);
  EXPECT_EQ(config->local_rope_theta, 0);
  EXPECT_EQ(config->attention_soft_cap, 50);
  EXPECT_EQ(config->logits_soft_cap, 30);
  EXPECT_EQ(config->attention_window, 0) << "the usual 4096 tokens are more than the context";
  GgufWriter own = small_gguf({.architecture = "gemma2"});
  own.u32("gemma2.attention.sliding_window", 16).f32("gemma2.attn_logit_softcapping", 20);
  const auto set = read(own.f32("gemma2.final_logit_softcapping", 10));
  EXPECT_EQ(set->attention_window, 16);
  EXPECT_EQ(set->attention_soft_cap, 20);
  EXPECT_EQ(set->logits_soft_cap, 10);
  GgufWriter zero = small_gguf({.architecture = "gemma2"});
  EXPECT_THAT(refusal(zero.f32("gemma2.final_logit_softcapping", 0)), HasSubstr("gemma2.final_logit_softcapping is 0"));
}

TEST_F(GgufConfig, KnowsWhatAGemma3Computes) {
  const auto gemma = [] { return small_gguf({.architecture = "gemma3"}); };
  const auto plain = read(gemma());
  ASSERT_TRUE(plain.has_value()) << plain.error().message;
  EXPECT_EQ(plain->full_attention_every, 1) << "without a window no layer is local";
  const auto config = read(gemma().u32("gemma3.attention.sliding_window", 16).f32("gemma3.rope.freq_base", 1e6F));
  EXPECT_TRUE(config->post_norms && config->gelu && config->head_norms);
  EXPECT_EQ(config->full_attention_every, 6);
  EXPECT_EQ(config->attention_window, 16);
  EXPECT_EQ(config->rope_theta, 1e6F);
  EXPECT_EQ(config->local_rope_theta, 1e4F);
  EXPECT_EQ(config->attention_soft_cap, 0);
  EXPECT_EQ(config->logits_soft_cap, 0);
  GgufWriter own = gemma();
  own.u32("gemma3.attention.sliding_window", 16).u32("gemma3.attention.sliding_window_pattern", 3);
  EXPECT_EQ(read(own.f32("gemma3.rope.freq_base_swa", 500))->full_attention_every, 3);
  EXPECT_EQ(read(own)->local_rope_theta, 500);
  EXPECT_THAT(refusal(gemma().f32("gemma3.attn_logit_softcapping", 50)), HasSubstr("soft caps on attention"));
}

// llama.cpp knows the 27B models, whose scores have another scale, by their layers.
TEST_F(GgufConfig, KnowsTheLargestGemmasByTheirLayers) {
  const auto scale = [&](const std::string& architecture, uint32_t layers) {
    GgufWriter writer;
    const std::string at = architecture + ".";
    writer.text("general.architecture", architecture).u32(at + "block_count", layers).u32(at + "context_length", 64);
    writer.u32(at + "embedding_length", 72).u32(at + "feed_forward_length", 32).u32(at + "attention.head_count", 4);
    writer.u32(at + "attention.key_length", 16).u32(at + "attention.value_length", 16);
    writer.f32(at + "attention.layer_norm_rms_epsilon", 1e-6F).u32("tokenizer.ggml.eos_token_id", 0);
    writer.texts("tokenizer.ggml.tokens", {"a", "b"}).tensor("token_embd.weight", 0, {2, 72}, std::string(576, '\1'));
    return read(writer).value().score_scale;
  };
  EXPECT_EQ(scale("gemma2", 42), 0);
  EXPECT_EQ(scale("gemma2", 46), static_cast<float>(1 / std::sqrt(18.0)));
  EXPECT_EQ(scale("gemma3", 46), 0);
  EXPECT_EQ(scale("gemma3", 62), static_cast<float>(1 / std::sqrt(18.0)));
}

TEST_F(GgufConfig, TakesAGemmasEndOfTurnByItsText) {
  SmallGguf made{.architecture = "gemma3"};
  made.tokens[1] = "<end_of_turn>";
  EXPECT_THAT(read(small_gguf(made))->eos_ids, ElementsAre(0, 1));
  made.architecture = "llama";
  EXPECT_THAT(read(small_gguf(made))->eos_ids, ElementsAre(0));
}

// Norms behind the blocks are a Gemma's only.
TEST_F(GgufConfig, KnowsWhichModelsHaveNormsBehindBlocks) {
  for (const char* name : {"blk.0.post_attention_norm.weight", "blk.0.post_ffw_norm.weight"}) {
    const std::string ones(128, '\1');
    EXPECT_EQ(refusal(small_gguf({.architecture = "gemma2"}).tensor(name, 0, {32}, ones)), "accepted");
    EXPECT_THAT(refusal(small_gguf().tensor(name, 0, {32}, ones)), HasSubstr("is none that a plain llama model has"));
  }
}

TEST_F(GgufConfig, RefusesWhatItWouldNotCompute) {
  EXPECT_THAT(refusal(small_gguf({.architecture = "mamba"})), HasSubstr("x.gguf: architecture mamba is not supported yet"));
  EXPECT_THAT(refusal(small_gguf({.architecture = "gemma"})),
              HasSubstr("architecture gemma is not supported yet; llama, qwen2, qwen3, gemma2 and gemma3 are"));
  EXPECT_THAT(refusal(small_gguf().text("llama.rope.scaling.type", "longrope")),
              HasSubstr("RoPE scaling longrope is not supported; none, linear, yarn and Llama 3's rope_freqs.weight are"));
  EXPECT_EQ(refusal(small_gguf().text("llama.rope.scaling.type", "none")), "accepted");
  EXPECT_THAT(refusal(small_gguf().u32("llama.expert_count", 8)), HasSubstr("llama.expert_count 8 is not supported"));
  EXPECT_EQ(refusal(small_gguf().u32("llama.expert_count", 0)), "accepted");
  EXPECT_THAT(refusal(small_gguf().u32("llama.rope.dimension_count", 8)), HasSubstr("of which 8 are rotated"));
  EXPECT_THAT(refusal(small_gguf().tensor("blk.0.attn_q_norm.weight", 0, {16}, std::string(64, '\1'))),
              HasSubstr("tensor blk.0.attn_q_norm.weight is none that a plain llama model has"));
  EXPECT_THAT(refusal(small_gguf().tensor("blk.1.attn_q.weight", 0, {16}, std::string(64, '\1'))), HasSubstr("blk.1.attn_q"));
  EXPECT_THAT(refusal(small_gguf().tensor("blk.0.ffn_gate_inp.weight", 0, {16}, std::string(64, '\1'))),
              HasSubstr("ffn_gate_inp"));
}

TEST_F(GgufConfig, RefusesAVocabularyThatIsNotTheEmbeddings) {
  GgufWriter writer = small_fields();
  writer.u32("tokenizer.ggml.eos_token_id", 0);
  add_small_tensors(writer, 9);
  EXPECT_THAT(refusal(writer), HasSubstr("9 embeddings for 8 tokens"));
}

}  // namespace
}  // namespace slipstream
