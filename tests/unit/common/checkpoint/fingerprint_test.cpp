#include "common/checkpoint/fingerprint.h"

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"

namespace slipstream {
namespace {

// Of a folder with one and the same weight file and this config.json; `also`: fields beside those
// that every config has.
uint64_t hash_with(const std::string& also) {
  const Folder folder;
  folder.write("model.safetensors", "weights");
  folder.write("config.json", R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128,
                                  "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100)" +
                                  also + "}");
  const auto config = read_llama_config(folder.path());
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return hash_weights(folder.path(), config.value()).value();
}

constexpr const char* kPlain = R"(, "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "eos_token_id": 2)";

TEST(Fingerprint, OfATokenizerIsTheSameInAFolderAndInAFile) {
  Folder folder;
  folder.write("x.gguf", small_gguf().bytes());
  const auto json = gguf_tokenizer_json(GgufFile::open(folder.path() / "x.gguf").value());
  folder.write("tokenizer.json", json.value() + "\n");
  const auto of_folder = hash_tokenizer(folder.path()), of_file = hash_tokenizer(folder.path() / "x.gguf");
  ASSERT_TRUE(of_folder.has_value()) << of_folder.error().message;
  EXPECT_EQ(of_folder.value(), of_file.value());
  folder.write("x.gguf", small_gguf({.pre = "qwen2"}).bytes());
  EXPECT_NE(of_folder.value(), hash_tokenizer(folder.path() / "x.gguf").value());
}

TEST(Fingerprint, OfAFileChangesWithItsWeightsAndNotWithItsWords) {
  Folder folder;
  const auto hash = [&](const std::string& bytes) {
    folder.write("x.gguf", bytes);
    return hash_weights(folder.path() / "x.gguf", LlamaConfig{}).value();
  };
  const uint64_t before = hash(small_gguf().bytes());
  EXPECT_EQ(hash(small_gguf().text("general.name", "another").bytes()), before);
  std::string weights = small_gguf().bytes();
  weights.back() ^= 1;
  EXPECT_NE(hash(weights), before);
  LlamaConfig divided;
  divided.rope_divisors = {1, 2};
  EXPECT_NE(hash_weights(folder.path() / "x.gguf", divided).value(), hash(weights));
}

TEST(Fingerprint, ChangesWithEachRuleOfAGemma) {
  Folder folder;
  folder.write("model.safetensors", "weights");
  const LlamaConfig gemma{.attention_window = 512,
                          .full_attention_every = 6,
                          .local_rope_theta = 1e4F,
                          .post_norms = true,
                          .gelu = true,
                          .norm_offset = 1,
                          .embedding_scale = 8,
                          .score_scale = 0.1F,
                          .attention_soft_cap = 50,
                          .logits_soft_cap = 30};
  std::set<uint64_t> hashes;
  const auto changed = [&](auto LlamaConfig::* field, auto value) {
    LlamaConfig config = gemma;
    config.*field = value;
    hashes.insert(hash_weights(folder.path(), config).value());
  };
  changed(&LlamaConfig::full_attention_every, 6);
  changed(&LlamaConfig::full_attention_every, 5);
  changed(&LlamaConfig::local_rope_theta, 2e4F);
  changed(&LlamaConfig::post_norms, false);
  changed(&LlamaConfig::gelu, false);
  changed(&LlamaConfig::norm_offset, 0.0F);
  changed(&LlamaConfig::embedding_scale, 1.0F);
  changed(&LlamaConfig::score_scale, 0.0F);
  changed(&LlamaConfig::attention_soft_cap, 0.0F);
  changed(&LlamaConfig::logits_soft_cap, 50.0F);
  EXPECT_EQ(hashes.size(), 10u);
}

TEST(Fingerprint, ChangesWithTheBytes) {
  Folder folder;
  folder.write("model.safetensors", "weights");
  const uint64_t before = hash_weights(folder.path(), LlamaConfig{}).value();
  folder.write("model.safetensors", "weightz");
  EXPECT_NE(hash_weights(folder.path(), LlamaConfig{}).value(), before);
}

// It is read in pieces.
TEST(Fingerprint, OfALargeFileChangesWithItsLastByteAndTellsHowFarItIs) {
  Folder folder;
  std::string weights(size_t{40} << 20, 'w');
  folder.write("model.safetensors", weights);
  std::vector<uint64_t> pieces;
  const auto read = [&](uint64_t bytes) { pieces.push_back(bytes); };
  const uint64_t before = hash_weights(folder.path(), LlamaConfig{}, read).value();
  EXPECT_GT(pieces.size(), 1u);
  EXPECT_EQ(std::accumulate(pieces.begin(), pieces.end(), uint64_t{0}), weights.size());
  weights.back() = 'x';
  folder.write("model.safetensors", weights);
  EXPECT_NE(hash_weights(folder.path(), LlamaConfig{}).value(), before);
}

TEST(Fingerprint, OfShardsIsThatOfTheirBytesByName) {
  Folder folder;
  folder.write("b.safetensors", "two");
  folder.write("a.safetensors", "one");
  folder.write("model.safetensors.index.json", R"({"weight_map":{"x":"b.safetensors","y":"a.safetensors"}})");
  const uint64_t shards = hash_weights(folder.path(), LlamaConfig{}).value();
  folder.write("model.safetensors", "onetwo");
  EXPECT_EQ(hash_weights(folder.path(), LlamaConfig{}).value(), shards);
}

TEST(Fingerprint, ChangesWithWhatTheConfigMakesOfTheWeights) {
  std::set<uint64_t> hashes{hash_with(kPlain)};
  const std::string rope = R"("rope_type": "llama3", "low_freq_factor": 1, "high_freq_factor": 4, )";
  const std::string changes[] = {
      R"(, "rope_theta": 500000)",
      R"(, "tie_word_embeddings": true)",
      R"(, "num_key_value_heads": 2)",
      R"(, "head_dim": 32)",
      R"(, "rope_scaling": {)" + rope + R"("factor": 8, "original_max_position_embeddings": 512})",
      R"(, "rope_scaling": {)" + rope + R"("factor": 4, "original_max_position_embeddings": 512})",
      R"(, "rope_scaling": {)" + rope + R"("factor": 8, "original_max_position_embeddings": 256})",
  };
  for (const std::string& change : changes) EXPECT_TRUE(hashes.insert(hash_with(kPlain + change)).second) << change;
  EXPECT_TRUE(hashes.insert(hash_with(R"(, "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "eos_token_id": 2)")).second);
}

TEST(Fingerprint, IsThatOfTheSameConfigInOtherWords) {
  const uint64_t plain = hash_with(kPlain);
  EXPECT_EQ(hash_with(R"(, "eos_token_id": 2, "rms_norm_eps": 0.00001, "max_position_embeddings": 512)"), plain);
  EXPECT_EQ(hash_with(std::string(kPlain) + R"(, "rope_theta": 10000.0, "torch_dtype": "bfloat16")"), plain);
}

TEST(Fingerprint, IgnoresWhatChangesNoLogit) {
  EXPECT_EQ(hash_with(R"(, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "eos_token_id": [2, 3])"), hash_with(kPlain));
}

TEST(Fingerprint, NamesTheFileThatIsMissing) {
  Folder folder;
  EXPECT_THAT(hash_tokenizer(folder.path()).error().message, testing::HasSubstr("tokenizer.json"));
  folder.write("tokenizer.model", "");
  EXPECT_THAT(hash_tokenizer(folder.path()).error().message,
              testing::HasSubstr("no tokenizer.json, which is needed: make one of it"));
}

}  // namespace
}  // namespace slipstream
