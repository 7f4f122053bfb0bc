// A model out of a GGUF file computes what it computes out of its Hugging Face folder.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
#include "tests/data/gguf_of_folder.h"
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
  Written(const char* model, GgmlType type)
      : path_(std::filesystem::path(testing::TempDir()) / (std::string("slipstream_") + model + ".gguf")) {
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
// head norms, or without.
TEST_P(GgufLogits, HaveTheBitsOfTheFolders) {
  const Written gguf(GetParam(), GgmlType::bf16);
  const auto tokens = some_tokens(40, 50);
  EXPECT_TRUE(same_bits(logits_of(gguf.path(), tokens), logits_of(test_data(GetParam()), tokens)));
}

INSTANTIATE_TEST_SUITE_P(Tiny, GgufLogits, testing::Values("tiny-llama", "tiny-qwen2", "tiny-qwen3"), [](const auto& info) {
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
    const auto numbers = std::filesystem::path(testing::TempDir()) / "slipstream_numbers.gguf";
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
