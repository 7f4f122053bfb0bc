#include "common/checkpoint/gemma_config.h"

#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// As Google's files have it, smaller. Both versions leave out what is usual in transformers.
json gemma(const char* architecture) {
  return {{"architectures", {architecture}},
          {"hidden_size", 48},
          {"intermediate_size", 128},
          {"num_hidden_layers", 7},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"vocab_size", 100},
          {"max_position_embeddings", 8192},
          {"rms_norm_eps", 1e-6},
          {"eos_token_id", {1, 9}}};
}

class GemmaConfig : public testing::Test {
 protected:
  Result<LlamaConfig> read(const json& config) {
    folder_.write("config.json", config.dump());
    return read_llama_config(folder_.path());
  }
  std::string refusal(const json& config) {
    const auto result = read(config);
    return result ? "accepted" : result.error().message;
  }
  Folder folder_;
};

TEST_F(GemmaConfig, OfAGemma2HasWhatIsUsual) {
  const auto config = read(gemma("Gemma2ForCausalLM"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->head_size, 256);
  EXPECT_TRUE(config->tied_embeddings && config->post_norms && config->gelu);
  EXPECT_FALSE(config->head_norms);
  EXPECT_EQ(config->norm_offset, 1);
  EXPECT_EQ(config->embedding_scale, static_cast<float>(std::sqrt(48.0)));
  EXPECT_EQ(config->score_scale, 0) << "256 is the size of a head";
  EXPECT_EQ(config->attention_window, 4096);
  EXPECT_EQ(config->full_attention_every, 2);
  EXPECT_TRUE(config->is_local(0) && !config->is_local(1) && config->is_local(2));
  EXPECT_EQ(config->rope_theta, 1e4F);
  EXPECT_EQ(config->local_rope_theta, 0);
  EXPECT_EQ(config->attention_soft_cap, 50);
  EXPECT_EQ(config->logits_soft_cap, 30);
}

TEST_F(GemmaConfig, OfAGemma3HasWhatIsUsual) {
  const auto config = read(gemma("Gemma3ForCausalLM"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_TRUE(config->tied_embeddings && config->post_norms && config->gelu && config->head_norms);
  EXPECT_EQ(config->norm_offset, 1);
  EXPECT_EQ(config->full_attention_every, 6);
  EXPECT_TRUE(config->is_local(4) && !config->is_local(5) && config->is_local(6));
  EXPECT_EQ(config->rope_theta, 1e6F);
  EXPECT_EQ(config->local_rope_theta, 1e4F);
  EXPECT_EQ(config->attention_soft_cap, 0);
  EXPECT_EQ(config->logits_soft_cap, 0);
}

TEST_F(GemmaConfig, TakesItsOwnNumbers) {
  json own = gemma("Gemma2ForCausalLM");
  own["head_dim"] = 16;
  own["query_pre_attn_scalar"] = 144;
  own["sliding_window"] = 100;
  own["attn_logit_softcapping"] = 20.0;
  own["final_logit_softcapping"] = nullptr;
  own["tie_word_embeddings"] = false;
  const auto config = read(own);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->head_size, 16);
  EXPECT_EQ(config->score_scale, static_cast<float>(1.0 / 12));
  EXPECT_EQ(config->attention_window, 100);
  EXPECT_EQ(config->attention_soft_cap, 20);
  EXPECT_EQ(config->logits_soft_cap, 0) << "null is none";
  EXPECT_FALSE(config->tied_embeddings);
  own["final_logit_softcapping"] = 0;
  EXPECT_THAT(refusal(own), HasSubstr("\"final_logit_softcapping\" is 0"));
}

TEST_F(GemmaConfig, TakesTheLayersThatSeeAllInBothLayouts) {
  json older = gemma("Gemma3ForCausalLM");
  older["sliding_window_pattern"] = 3;
  EXPECT_EQ(read(older)->full_attention_every, 3);
  json newer = gemma("Gemma3ForCausalLM");
  const auto types = [&](std::string_view kinds) {
    json list = json::array();
    for (const char kind : kinds) list.push_back(kind == 's' ? "sliding_attention" : "full_attention");
    newer["layer_types"] = list;
    return refusal(newer);
  };
  EXPECT_EQ(types("ssfssfs"), "accepted");
  EXPECT_EQ(read(newer)->full_attention_every, 3);
  EXPECT_EQ(types("fffffff"), "accepted");
  EXPECT_EQ(read(newer)->full_attention_every, 1);
  EXPECT_EQ(types("sssssss"), "accepted");
  EXPECT_TRUE(read(newer)->is_local(5));
  EXPECT_THAT(types("ssfsffs"), HasSubstr("\"layer_types\" repeat no pattern"));
  EXPECT_THAT(types("ssfs"), HasSubstr("the kind of each of 7 layers"));
  newer["layer_types"] = {"s", "s", "s", "s", "s", "s", "s"};
  EXPECT_THAT(refusal(newer), HasSubstr("sliding_attention and full_attention"));
}

TEST_F(GemmaConfig, TakesBothRotationsInBothLayouts) {
  json older = gemma("Gemma3ForCausalLM");
  older["rope_theta"] = 500000;
  older["rope_local_base_freq"] = 20000;
  older["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
  json newer = gemma("Gemma3ForCausalLM");
  newer["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 500000}}},
                              {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 20000}}}};
  for (const json& each : {older, newer}) {
    const auto config = read(each);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_EQ(config->rope_theta, 500000);
    EXPECT_EQ(config->rope_divisor, 8);
    EXPECT_EQ(config->local_rope_theta, 20000);
  }
  newer["rope_parameters"]["sliding_attention"]["rope_type"] = "linear";
  EXPECT_THAT(refusal(newer), HasSubstr("RoPE type linear of sliding layers is not supported"));
}

TEST_F(GemmaConfig, RefusesWhatItWouldNotCompute) {
  const auto with = [&](const char* architecture, const char* field, const json& value) {
    json config = gemma(architecture);
    config[field] = value;
    return refusal(config);
  };
  EXPECT_THAT(with("Gemma3ForCausalLM", "use_bidirectional_attention", true), HasSubstr("use_bidirectional_attention"));
  EXPECT_THAT(with("Gemma3ForCausalLM", "attn_logit_softcapping", 50.0), HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(with("Gemma2ForCausalLM", "hidden_activation", "gelu"), HasSubstr("gelu_pytorch_tanh is"));
  EXPECT_EQ(with("Gemma2ForCausalLM", "hidden_activation", "gelu_pytorch_tanh"), "accepted");
  EXPECT_THAT(with("Gemma2ForCausalLM", "query_pre_attn_scalar", 0), HasSubstr("query_pre_attn_scalar"));
}

// Its sizes lie in an object of their own, which nobody may be told of.
TEST_F(GemmaConfig, SaysWhatToTakeInsteadOfAModelThatReadsImages) {
  const json images{{"architectures", {"Gemma3ForConditionalGeneration"}}, {"text_config", {{"hidden_size", 48}}}};
  EXPECT_THAT(refusal(images), HasSubstr("Gemma3ForConditionalGeneration reads images, too, which is not supported; "
                                         "Gemma3ForCausalLM is, which reads text: take the model's GGUF file"));
  EXPECT_THAT(refusal(gemma("Gemma3nForConditionalGeneration")),
              HasSubstr("architecture Gemma3nForConditionalGeneration is not supported yet; LlamaForCausalLM"));
}

TEST(FullAttentionEvery, IsThePeriodOfThePattern) {
  const auto every = [](auto... local) { return full_attention_every(std::array<bool, sizeof...(local)>{local...}); };
  EXPECT_EQ(every(true, false, true, false), 2);
  EXPECT_EQ(every(true, true, false, true), 3);
  EXPECT_EQ(every(false, false), 1);
  EXPECT_EQ(every(true, true), 0);
  EXPECT_EQ(every(true, false, false), std::nullopt);
  EXPECT_EQ(every(false, true), std::nullopt);
}

}  // namespace
}  // namespace slipstream
