// A model out of a GGUF file computes what it computes out of its Hugging Face folder.
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
#include "tests/data/gguf_of_folder.h"
#include "tests/data/own_path.h"
#include "tests/unit/common/model/logits_of.h"
#include "tests/unit/common/model/models.h"

namespace slipstream {
namespace {

std::vector<float> logits_of(const std::filesystem::path& model, std::span<const TokenId> tokens,
                             std::optional<WeightFormat> weights = WeightFormat::bf16) {
  return slipstream::logits_of(model, CpuOptions{.threads = 2, .weights = weights}, tokens);
}

std::vector<TokenId> some_tokens(int count, int vocabulary) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((7 + i * i * 31) % vocabulary);
  return tokens;
}

// A GGUF file of a test's own, gone with it.
class Written {
 public:
  Written(const char* model, GgmlType type) : path_(own_path(std::string(model) + ".gguf")) {
    GgufOfFolder(test_data(model), type, "smollm").write(path_);
  }
  ~Written() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class GgufLogits : public testing::TestWithParam<const char*> {};

// Query and key rows are stored in another order (llama) or not (qwen2, qwen3); with biases and
// head norms, or without; with a sliding window, or with YaRN.
TEST_P(GgufLogits, HaveTheBitsOfTheFolders) {
  const Written gguf(GetParam(), GgmlType::bf16);
  const auto tokens = some_tokens(40, 50);
  EXPECT_TRUE(same_bits(logits_of(gguf.path(), tokens), logits_of(test_data(GetParam()), tokens)));
}

INSTANTIATE_TEST_SUITE_P(Tiny, GgufLogits,
                         testing::Values("tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-mistral", "tiny-yarn"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Files that llama.cpp's own converter made (make_gemma_gguf.py): norms that hold 1 + w, tensors of
// other names, rules that the file does not name. It has no field for query_pre_attn_scalar, which
// is head_dim then.
class ConvertedLogits : public testing::TestWithParam<const char*> {};

TEST_P(ConvertedLogits, HaveTheBitsOfTheFolders) {
  const std::filesystem::path folder = own_path("gemma");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::copy(test_data(GetParam()) / "model.safetensors", folder);
  auto config = nlohmann::json::parse(std::ifstream(test_data(GetParam()) / "config.json"));
  config["query_pre_attn_scalar"] = config.at("head_dim");
  std::ofstream(folder / "config.json") << config.dump();
  const auto tokens = some_tokens(40, 50);
  EXPECT_TRUE(same_bits(logits_of(test_data(GetParam()) / "converted.gguf", tokens), logits_of(folder, tokens)));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Tiny, ConvertedLogits, testing::Values("tiny-gemma2", "tiny-gemma3"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

// A GGUF file holds what Llama 3.1's rule makes of each frequency, not the rule: equal but for one
// rounding of each.
TEST(GgufLogits, ComeNearAFoldersWhereTheRopeRuleIsWrittenOut) {
  const Written gguf("tiny-llama3", GgmlType::bf16);
  const auto tokens = some_tokens(100, 50);
  const auto ours = logits_of(gguf.path(), tokens), folders = logits_of(test_data("tiny-llama3"), tokens);
  ASSERT_EQ(ours.size(), folders.size());
  double most = 0;
  for (size_t i = 0; i < ours.size(); ++i) most = std::max(most, double{std::abs(ours[i] - folders[i])});
  RecordProperty("most", std::to_string(most));
  EXPECT_LT(most, 0.01);
}

// Each format against a file that holds in F32 what its blocks stand for (dequantise_test says that
// this is right).
TEST(GgufLogits, OfEachFormatAreThoseOfTheNumbersThatItStandsFor) {
  const auto tokens = some_tokens(40, 50);
  for (const GgmlType type : {GgmlType::f16, GgmlType::q8_0, GgmlType::q4_0, GgmlType::q4_1}) {
    const Written stored("tiny-llama", type);
    const auto numbers = own_path("numbers.gguf");
    GgufOfFolder(test_data("tiny-llama"), GgmlType::f32, "smollm", stored.path()).write(numbers);
    EXPECT_TRUE(same_bits(logits_of(stored.path(), tokens), logits_of(numbers, tokens))) << static_cast<int>(type);
    std::filesystem::remove(numbers);
  }
}

// A file's own blocks are computed on as they are; those made of their numbers anew would have
// other scales and minima.
TEST(GgufLogits, OfASmallFileAreThoseOfItsOwnFormat) {
  const auto tokens = some_tokens(40, 50);
  for (const auto& [type, format] :
       {std::pair(GgmlType::q8_0, WeightFormat::q8_0), std::pair(GgmlType::q4_0, WeightFormat::q4_0),
        std::pair(GgmlType::q4_1, WeightFormat::q4_1)}) {
    const Written stored("tiny-llama", type);
    const auto ours = logits_of(stored.path(), tokens, std::nullopt);
    EXPECT_TRUE(same_bits(ours, logits_of(stored.path(), tokens, format))) << name(format);
    EXPECT_FALSE(same_bits(ours, logits_of(stored.path(), tokens, WeightFormat::bf16))) << name(format);
  }
}

// A llama of one layer with random weights in the formats of a Q4_K_M file and others: one stack of
// query, key and value has two of them.
class RandomBlocks {
 public:
  explicit RandomBlocks(bool as_numbers) : as_numbers_(as_numbers) {
    writer_.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 64);
    writer_.u32("llama.embedding_length", kHidden)
        .u32("llama.feed_forward_length", kInner)
        .u32("llama.attention.head_count", 4);
    writer_.u32("llama.attention.head_count_kv", 2).f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    std::vector<std::string> tokens;
    for (uint64_t id = 0; id < kTokens; ++id) tokens.push_back(fmt::format("t{}", id));
    writer_.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", tokens);
    writer_.u32("tokenizer.ggml.eos_token_id", 0);
    for (const char* name : {"output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"}) {
      std::string ones;
      for (uint64_t i = 0; i < kHidden; ++i) ones += GgufWriter::raw(1.0F);
      writer_.tensor(std::string(name) + ".weight", 0, {kHidden}, ones);
    }
    add("token_embd", 14, Dtype::q6_k, {208}, kTokens, kHidden);
    add("blk.0.attn_q", 12, Dtype::q4_k, {0, 2}, kHidden, kHidden);
    add("blk.0.attn_k", 12, Dtype::q4_k, {0, 2}, kHidden / 2, kHidden);
    add("blk.0.attn_v", 14, Dtype::q6_k, {208}, kHidden / 2, kHidden);
    add("blk.0.attn_output", 13, Dtype::q5_k, {0, 2}, kHidden, kHidden);
    add("blk.0.ffn_gate", 11, Dtype::q3_k, {108}, kInner, kHidden);
    add("blk.0.ffn_up", 23, Dtype::iq4_xs, {0}, kInner, kHidden);
    add("blk.0.ffn_down", 6, Dtype::q5_0, {0}, kHidden, kInner);
    std::ofstream(path_, std::ios::binary) << writer_.bytes();
  }
  ~RandomBlocks() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

  static constexpr uint64_t kTokens = 40, kHidden = 256, kInner = 512;

 private:
  // halves: where the f16 scales of a block stand, in bytes.
  void add(const std::string& name, uint32_t type, Dtype dtype, std::initializer_list<size_t> halves, uint64_t rows,
           uint64_t cols) {
    const StoredBlock block = block_of(dtype);
    std::string bytes(rows * cols / static_cast<uint64_t>(block.numbers) * block.bytes, 0);
    for (char& each : bytes) each = static_cast<char>(random_());
    for (size_t at = 0; at < bytes.size(); at += block.bytes) {
      for (const size_t half : halves) bytes.replace(at + half, 2, GgufWriter::raw(f32_to_f16(0.0003F)));
    }
    if (as_numbers_) {
      const HostMatrix matrix{.name = name,
                              .dtype = dtype,
                              .rows = static_cast<int32_t>(rows),
                              .cols = static_cast<int32_t>(cols),
                              .bytes = std::as_bytes(std::span(bytes))};
      std::string numbers;
      for (int32_t row = 0; row < matrix.rows; ++row) {
        std::vector<float> values(cols);
        read_row(matrix, row, values);
        for (const float value : values) numbers += GgufWriter::raw(value);
      }
      type = 0;
      bytes = numbers;
    }
    writer_.tensor(name + ".weight", type, {rows, cols}, bytes);
  }

  bool as_numbers_;
  std::mt19937 random_{9};
  GgufWriter writer_;
  std::filesystem::path path_ = own_path(as_numbers_ ? "numbers.gguf" : "blocks.gguf");
};

TEST(GgufLogits, OfKQuantsAreThoseOfTheNumbersThatTheyStandFor) {
  const RandomBlocks blocks(false), numbers(true);
  const auto tokens = some_tokens(30, RandomBlocks::kTokens);
  EXPECT_TRUE(same_bits(logits_of(blocks.path(), tokens), logits_of(numbers.path(), tokens)));
}

// In the file's own formats only activations and scales are rounded. Integers are exact, so the
// paths of int8 agree: 0.023.
TEST(GgufLogits, OfKQuantsInTheirOwnFormatsAreNear) {
  const RandomBlocks blocks(false);
  const auto tokens = some_tokens(30, RandomBlocks::kTokens);
  for (const CpuPath path : available_cpu_paths()) {
    const auto exact = slipstream::logits_of(blocks.path(), {.path = CpuPath::portable, .weights = WeightFormat::bf16}, tokens);
    const auto ours = slipstream::logits_of(blocks.path(), {.path = path}, tokens);
    ASSERT_EQ(ours.size(), exact.size());
    double difference = 0, size = 0;
    for (size_t i = 0; i < ours.size(); ++i) {
      difference += std::pow(ours[i] - exact[i], 2);
      size += std::pow(exact[i], 2);
    }
    EXPECT_LT(std::sqrt(difference / size), 0.03) << name(path);
    EXPECT_GT(difference, 0) << name(path);
  }
}

// The folder was made of this very file by another implementation (tools/setup/gguf_to_hf.py), in
// Q4_1 and Q8_0: equal bits say that blocks, order of rows and configuration are read alike.
TEST(RealGguf, HasTheFoldersLogitsConfigurationAndTokenizer) {
  if (!has_real_model() || !std::filesystem::exists(real_gguf())) GTEST_SKIP() << kNoRealGguf;
  const LlamaConfig ours = read_llama_config(real_gguf()).value(), folders = read_llama_config(real_model()).value();
  EXPECT_EQ(ours.rms_eps, folders.rms_eps);
  EXPECT_EQ(ours.rope_theta, folders.rope_theta);
  EXPECT_EQ(ours.context_max, folders.context_max);
  EXPECT_EQ(ours.eos_ids, folders.eos_ids);
  EXPECT_EQ(ours.tied_embeddings, folders.tied_embeddings);
  EXPECT_EQ(hash_tokenizer(real_gguf()).value(), hash_tokenizer(real_model()).value());
  const auto tokens = some_tokens(100, ours.vocabulary);
  EXPECT_TRUE(same_bits(logits_of(real_gguf(), tokens), logits_of(real_model(), tokens)));
}

}  // namespace
}  // namespace slipstream
