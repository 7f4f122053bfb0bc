#include "common/checkpoint/hf_config.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json good() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"hidden_size", 64},
          {"intermediate_size", 128},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"vocab_size", 100},
          {"max_position_embeddings", 512},
          {"rms_norm_eps", 1e-5},
          {"eos_token_id", 2}};
}

class HfConfig : public testing::Test {
 protected:
  Result<LlamaConfig> read(const json& config) {
    folder_.write("config.json", config.dump());
    return read_llama_config(folder_.path());
  }
  std::string refusal(const char* field, const json& value) {
    json config = good();
    config[field] = value;
    const auto result = read(config);
    return result ? "accepted" : result.error().message;
  }
  Folder folder_;
};

TEST_F(HfConfig, ReadsSizesAndFillsInWhatIsUsual) {
  const auto config = read(good());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->hidden, 64);
  EXPECT_EQ(config->head_size, 16);
  EXPECT_EQ(config->kv_heads, 2);
  EXPECT_EQ(config->rope_theta, 10000.0F);
  EXPECT_FALSE(config->llama3.has_value());
  EXPECT_FALSE(config->tied_embeddings);
  EXPECT_THAT(config->eos_ids, ElementsAre(2));
}

TEST_F(HfConfig, KnowsTheMembersOfTheFamilyApart) {
  const auto flags = [&](const char* architecture, bool attention_bias) {
    json config = good();
    config["architectures"] = {architecture};
    config["attention_bias"] = attention_bias;
    const LlamaConfig read_back = read(config).value();
    return std::array{read_back.qkv_bias, read_back.out_bias, read_back.head_norms};
  };
  EXPECT_THAT(flags("LlamaForCausalLM", false), ElementsAre(false, false, false));
  EXPECT_THAT(flags("LlamaForCausalLM", true), ElementsAre(true, true, false));
  EXPECT_THAT(flags("Qwen2ForCausalLM", false), ElementsAre(true, false, false));
  EXPECT_THAT(flags("Qwen3ForCausalLM", false), ElementsAre(false, false, true));
  EXPECT_THAT(flags("Qwen3ForCausalLM", true), ElementsAre(true, true, true));
}

TEST_F(HfConfig, TakesEosIdsFromTheGenerationConfigFirst) {
  folder_.write("generation_config.json", R"({"eos_token_id": [9, 7, 9]})");
  EXPECT_THAT(read(good())->eos_ids, ElementsAre(7, 9));
  folder_.write("generation_config.json", "{}");
  EXPECT_THAT(read(good())->eos_ids, ElementsAre(2));
}

TEST_F(HfConfig, ReadsLlama3ScalingInBothLayouts) {
  const json rope = {{"rope_type", "llama3"},
                     {"factor", 32.0},
                     {"low_freq_factor", 1.0},
                     {"high_freq_factor", 4.0},
                     {"original_max_position_embeddings", 8192}};
  json old = good();
  old["rope_theta"] = 500000.0;
  old["rope_scaling"] = rope;
  json modern = good();
  modern["rope_parameters"] = rope;
  modern["rope_parameters"]["rope_theta"] = 500000.0;
  for (const json& each : {old, modern}) {
    const auto config = read(each);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_EQ(config->rope_theta, 500000.0F);
    ASSERT_TRUE(config->llama3.has_value());
    EXPECT_EQ(config->llama3->factor, 32.0F);
    EXPECT_EQ(config->llama3->original_context, 8192);
  }
}

TEST_F(HfConfig, ReadsLinearScaling) {
  json config = good();
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(read(config)->rope_divisor, 4.0F);
  EXPECT_THAT(refusal("rope_scaling", {{"type", "linear"}}), HasSubstr("\"factor\""));
  EXPECT_THAT(refusal("rope_scaling", {{"type", "linear"}, {"factor", 0.0}}), HasSubstr("\"factor\""));
}

// As transformers reads them: what is absent has YaRN's own values.
TEST_F(HfConfig, ReadsYarnScaling) {
  const auto yarn = [&](json rope) {
    json config = good();
    rope["rope_type"] = "yarn";
    config["rope_scaling"] = rope;
    const auto read_back = read(config);
    EXPECT_TRUE(read_back.has_value() && read_back->yarn.has_value()) << rope;
    return read_back.value().yarn.value();
  };
  const YarnScaling usual = yarn({{"factor", 4.0}, {"original_max_position_embeddings", 128}});
  EXPECT_EQ(usual.factor, 4.0F);
  EXPECT_EQ(usual.original_context, 128);
  EXPECT_EQ(usual.beta_fast, 32.0F);
  EXPECT_EQ(usual.beta_slow, 1.0F);
  EXPECT_TRUE(usual.whole_pairs);
  EXPECT_FLOAT_EQ(usual.attention_factor, 1.1386294F);  // 0.1 ln 4 + 1
  EXPECT_EQ(yarn({{"factor", 4.0}}).original_context, 512) << "the model's own context";
  EXPECT_EQ(yarn({{"factor", 1.0}}).attention_factor, 1.0F);
  EXPECT_EQ(yarn({{"factor", 4.0}, {"attention_factor", 1.5}}).attention_factor, 1.5F);
  EXPECT_EQ(yarn({{"factor", 4.0}, {"mscale", 1.0}, {"mscale_all_dim", 1.0}}).attention_factor, 1.0F);
  EXPECT_FLOAT_EQ(yarn({{"factor", 4.0}, {"mscale", 1.0}, {"mscale_all_dim", 0.5}}).attention_factor, 1.0648216F)
      << "(0.1 ln 4 + 1) / (0.05 ln 4 + 1)";
  const YarnScaling own = yarn({{"factor", 4.0}, {"beta_fast", 16.0}, {"beta_slow", 2.0}, {"truncate", false}});
  EXPECT_EQ(own.beta_fast, 16.0F);
  EXPECT_EQ(own.beta_slow, 2.0F);
  EXPECT_FALSE(own.whole_pairs);
  EXPECT_THAT(refusal("rope_scaling", {{"type", "yarn"}}), HasSubstr("\"factor\""));
}

TEST_F(HfConfig, CapsTheContextAtOurOwnLimit) {
  json config = good();
  config["max_position_embeddings"] = 131072;
  EXPECT_EQ(read(config)->context_max, 131072);
  config["max_position_embeddings"] = 1 << 20;
  EXPECT_EQ(read(config)->context_max, 131072);
}

TEST_F(HfConfig, TakesAMistralsWindowWhereItsContextIsLonger) {
  json config = good();
  config["architectures"] = {"MistralForCausalLM"};
  EXPECT_EQ(read(config)->attention_window, 0);
  config["sliding_window"] = nullptr;
  EXPECT_EQ(read(config)->attention_window, 0);
  config["sliding_window"] = 512;
  EXPECT_EQ(read(config)->attention_window, 0);
  config["sliding_window"] = 128;
  EXPECT_EQ(read(config)->attention_window, 128);
  EXPECT_EQ(read(config)->context_max, 512);
  config["architectures"] = {"LlamaForCausalLM"};
  EXPECT_EQ(read(config)->attention_window, 0) << "of a Llama it says nothing";
  config["architectures"] = {"MistralForCausalLM"};
  config["sliding_window"] = 0;
  EXPECT_THAT(read(config).error().message, HasSubstr("sliding_window"));
}

TEST_F(HfConfig, RefusesOtherArchitecturesByName) {
  EXPECT_THAT(refusal("architectures", {"MambaForCausalLM"}), HasSubstr("architecture MambaForCausalLM is not supported yet"));
  EXPECT_THAT(refusal("architectures", {"GemmaForCausalLM"}), HasSubstr("Gemma2ForCausalLM and Gemma3ForCausalLM are"));
  EXPECT_THAT(refusal("architectures", json::array()), HasSubstr("must name one"));
  EXPECT_THAT(refusal("architectures", nullptr), HasSubstr("no field \"architectures\""));
  EXPECT_THAT(refusal("mlp_bias", true), HasSubstr("\"mlp_bias\" true is not supported"));
  EXPECT_THAT(refusal("use_sliding_window", true), HasSubstr("\"use_sliding_window\" true is not supported"));
  EXPECT_THAT(refusal("hidden_act", "gelu"), HasSubstr("gelu is not supported"));
  EXPECT_THAT(refusal("rope_scaling", {{"type", "longrope"}}),
              HasSubstr("RoPE type longrope is not supported; default, linear, llama3 and yarn are"));
  EXPECT_THAT(refusal("rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}), HasSubstr("RoPE type dynamic is not supported"));
}

TEST_F(HfConfig, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal("hidden_size", 0), HasSubstr("\"hidden_size\" is 0, supported are 1 to"));
  EXPECT_THAT(refusal("hidden_size", 1ull << 40), HasSubstr("supported are 1 to"));
  EXPECT_THAT(refusal("hidden_size", "64"), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal("hidden_size", 66), HasSubstr("no multiple of"));
  EXPECT_THAT(refusal("num_key_value_heads", 3), HasSubstr("cannot share 3 key-value heads"));
  EXPECT_THAT(refusal("head_dim", 15), HasSubstr("odd head"));
  EXPECT_THAT(refusal("rms_norm_eps", 0), HasSubstr("rms_norm_eps"));
  EXPECT_THAT(refusal("eos_token_id", 100), HasSubstr("must hold ids of the vocabulary, which has 100"));
  EXPECT_THAT(refusal("eos_token_id", json::array()), HasSubstr("lists 0 ids"));
  EXPECT_THAT(refusal("tie_word_embeddings", 1), HasSubstr("must be true or false"));
}

TEST_F(HfConfig, SaysWhatIsWrongWithTheFileItself) {
  EXPECT_THAT(read_llama_config(folder_.path()).error().message, HasSubstr("pass a Hugging Face model folder"));
  folder_.write("config.json", "{\"hidden_size\":");
  EXPECT_THAT(read_llama_config(folder_.path()).error().message, HasSubstr("no valid JSON"));
  folder_.write("config.json", std::string(100000, '['));
  EXPECT_THAT(read_llama_config(folder_.path()).error().message, HasSubstr("no valid JSON"));
}

}  // namespace
}  // namespace slipstream
