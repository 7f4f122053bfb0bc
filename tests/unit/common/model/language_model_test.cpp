#include "common/model/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/step_check.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

// A copy of the tiny model that a test may spoil.
struct Copy : Folder {
  Copy() { copy(test_data("tiny-llama")); }
};

std::string refusal(const std::filesystem::path& folder, ModelOptions options = {.cache_blocks = 4}) {
  const auto target = load_alone(folder, {}, options);
  return target ? "loaded" : target.error().message;
}

std::string refusal_with(const std::string& from, const std::string& to) {
  const Copy folder;
  folder.replace("config.json", from, to);
  return refusal(folder.path());
}

TEST(LanguageModel, NamesWhatGivesEqualBits) {
  const auto target = load_alone(test_data("tiny-llama"), {.path = CpuPath::portable});
  ASSERT_TRUE(target.has_value());
  EXPECT_THAT(target->numerics_id(), HasSubstr("cpu/portable/bf16/"));
  EXPECT_THAT(target->numerics_id(), testing::Not(testing::EndsWith("/fine rows")));
  EXPECT_TRUE(target->row_invariant());
  EXPECT_THAT(target->config().eos_ids, testing::ElementsAre(2));
  EXPECT_NE(target->weights_hash(), 0u);
}

TEST(LanguageModel, NamesTheFormatOfItsWeights) {
  for (const auto format : kAllWeightFormats) {
    const auto target = load_alone(test_data("tiny-llama"), {.path = CpuPath::portable, .weights = format});
    ASSERT_TRUE(target.has_value()) << target.error().message;
    EXPECT_THAT(target->numerics_id(), testing::StartsWith(fmt::format("cpu/portable/{}/", name(format))));
  }
}

TEST(LanguageModel, NamesFineRows) {
  const auto fine = load_alone(test_data("tiny-llama"), {}, {.cache_blocks = 4, .fine_rows = true});
  ASSERT_TRUE(fine.has_value()) << fine.error().message;
  EXPECT_THAT(fine->numerics_id(), testing::EndsWith("/fine rows"));
}

TEST(LanguageModel, HashesWhatTheConfigMakesOfTheWeights) {
  const Copy theta;
  theta.replace("config.json", "\"rope_theta\": 10000.0", "\"rope_theta\": 20000.0");
  const auto ours = load_alone(test_data("tiny-llama")), other = load_alone(theta.path());
  ASSERT_TRUE(ours.has_value() && other.has_value());
  EXPECT_NE(ours->weights_hash(), other->weights_hash());
}

// 135M: 30 layers, three heads of 64, 16,384 tokens.
TEST(LanguageModel, KeepsAKeyAndAValueOfEachPositionLayerAndHead) {
  constexpr AttentionShape kShape{.heads = 9, .kv_heads = 3, .head_size = 64};
  const size_t numbers = 30u * 3 * 64 * 2 * 16'384;
  EXPECT_EQ(cpu_cache_bytes(CpuPath::portable, 30, kShape, 512), numbers * sizeof(float));
  EXPECT_EQ(cpu_cache_bytes(CpuPath::amx, 30, kShape, 512), numbers * sizeof(uint16_t));
  const auto target = load_alone(test_data("tiny-llama"), {.path = CpuPath::portable}).value();
  const LlamaConfig& tiny = target.config();
  const AttentionShape shape{.heads = tiny.heads, .kv_heads = tiny.kv_heads, .head_size = tiny.head_size};
  EXPECT_EQ(target.cache_bytes(), cpu_cache_bytes(CpuPath::portable, tiny.layers, shape, 4)) << "the blocks of load_alone";
}

// A block of the model holds 2 layers x 2 heads x 32 positions x 16 numbers, one of its head less,
// and 32 features of 32 numbers in f32.
TEST(LanguageModel, TakesAsManyBlocksAsAnAmountOfMemoryHolds) {
  const CpuOptions f32{.path = CpuPath::portable};
  const size_t block = 2 * 2 * 32 * (8 + 16) * 4;  // values are padded to 16 numbers
  for (const size_t blocks : {8, 9, 100}) {
    const auto model = load_alone(test_data("tiny-llama"), f32, {.cache_bytes = blocks * block + block / 2});
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->cache_blocks(), blocks);
    EXPECT_EQ(model->cache_bytes(), blocks * block);
  }
  const auto headed = load_alone(test_data("tiny-llama"), f32, {.cache_bytes = 100 * block, .head = test_data("tiny-head")});
  ASSERT_TRUE(headed.has_value()) << headed.error().message;
  EXPECT_LT(headed->cache_blocks(), 100);
  EXPECT_LE(headed->cache_bytes(), 100 * block);
  EXPECT_GT(headed->cache_bytes(), 95 * block);
  const auto none = load_alone(test_data("tiny-llama"), f32, {.cache_bytes = 7 * block});
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(
      none.error().message,
      HasSubstr("a cache in 86016 bytes holds 224 tokens of this model, at 384 bytes each, and at least 256 are needed: "
                "--cache-memory 96KiB or more"));
}

TEST(LanguageModel, SaysWhatAnIncompleteFolderLacks) {
  const Copy folder;
  std::filesystem::remove(folder.path() / "model.safetensors");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("neither model.safetensors nor model.safetensors.index.json"));
  std::filesystem::remove(folder.path() / "config.json");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("no config.json"));
}

TEST(LanguageModel, RefusesATruncatedWeightFile) {
  const Copy folder;
  const auto weights = folder.path() / "model.safetensors";
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) - 1);
  EXPECT_THAT(refusal(folder.path()), HasSubstr("truncated"));
}

TEST(LanguageModel, RefusesWeightsOfAnotherModel) {
  EXPECT_THAT(refusal_with("\"intermediate_size\": 64", "\"intermediate_size\": 96"),
              HasSubstr("mlp.gate_proj.weight has shape [64, 32], its config.json asks for [96, 32]"));
  EXPECT_THAT(refusal_with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"),
              HasSubstr("model.layers.2.input_layernorm.weight is missing"));
  EXPECT_THAT(refusal_with("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"),
              HasSubstr("lm_head.weight is missing"));
}

TEST(LanguageModel, RefusesOptionsOutOfRange) {
  EXPECT_THAT(refusal(test_data("tiny-llama"), {.cache_blocks = 0}), HasSubstr("0 cache blocks"));
  EXPECT_THAT(load_alone(test_data("tiny-llama"), {.threads = 0}).error().message, HasSubstr("0 compute threads"));
  EXPECT_THAT(refusal(test_data("tiny-llama"), {.cache_blocks = 4, .rows_max = 257}),
              HasSubstr("257 rows a step were asked for; 1 to 256 are possible"));
}

// A good step with one field spoiled.
class StepCheck : public testing::Test {
 protected:
  StepCheck() : blocks_(pool_), rows_(2) {
    EXPECT_TRUE(blocks_.reserve(40));
    const TokenId tokens[] = {5, 6, 7};
    rows_.prompt(rows_.sequence_of(blocks_), blocks_, tokens, 30);
  }
  std::string error() {
    const auto checked = check_step(rows_.view(), {.rows_max = 4, .vocabulary = 64, .positions = 64, .cache_blocks = 4});
    return checked ? "good" : checked.error().message;
  }
  BlockPool pool_{4};
  BlockTable blocks_;
  Rows rows_;
};

TEST_F(StepCheck, LetsAGoodStepPass) { EXPECT_EQ(error(), "good"); }
TEST_F(StepCheck, RefusesTokensOutsideTheVocabulary) {
  rows_.token[1] = 64;
  EXPECT_THAT(error(), HasSubstr("token 64 of row 1"));
}
TEST_F(StepCheck, RefusesSlotsOutsideTheCache) {
  rows_.slot[2] = 4 * kBlockTokens;
  EXPECT_THAT(error(), HasSubstr("slot 128 of row 2"));
}
TEST_F(StepCheck, RefusesContextBeyondTheBlockTable) {
  rows_.ancestors[0] = uint64_t{1} << 40;
  EXPECT_THAT(error(), HasSubstr("row 0 sees"));
}
TEST_F(StepCheck, RefusesContextInBlocksThatAreNone) {
  rows_.block_table[1] = -1;
  EXPECT_THAT(error(), HasSubstr("row 2 sees block -1"));
}
TEST_F(StepCheck, RefusesARowThatSeesNothing) {
  rows_.visible[0] = 0;
  EXPECT_THAT(error(), HasSubstr("row 0 sees no position"));
}
TEST_F(StepCheck, RefusesWantedRowsOutOfOrder) {
  rows_.wanted = {1, 0, 2};
  EXPECT_THAT(error(), HasSubstr("must ascend"));
}
TEST_F(StepCheck, RefusesMovesOutsideTheCache) {
  rows_.moves = {{.from = 3, .to = -1}};
  EXPECT_THAT(error(), HasSubstr("a move from slot 3 to -1"));
}
TEST_F(StepCheck, RefusesAdjustedRowsThatAreNone) {
  const std::vector<std::shared_ptr<const LogitsProcessor>> logits_processors{std::make_shared<LogitsProcessor>(LogitsParams{}),
                                                                              nullptr};
  const std::vector<TokenId> path(40, 5);
  const auto refused = [&](std::vector<ProcessedRow> rows) {
    Step step = rows_.view();
    step.processed = rows;
    step.logits_processors = logits_processors;
    step.path = path;
    return !check_step(step, {.rows_max = 4, .vocabulary = 64, .positions = 64, .cache_blocks = 4}).has_value();
  };
  EXPECT_FALSE(refused({{.wanted = 0}, {.wanted = 2, .path_begin = 8, .path_size = kTreeDepthMax}}));
  EXPECT_TRUE(refused({{.wanted = 3}}));
  EXPECT_TRUE(refused({{.wanted = -1}}));
  EXPECT_TRUE(refused({{.wanted = 1}, {.wanted = 1}}));
  EXPECT_TRUE(refused({{.logits_processor = 1}})) << "null";
  EXPECT_TRUE(refused({{.logits_processor = 2}}));
  EXPECT_TRUE(refused({{.path_begin = 39, .path_size = 2}}));
  EXPECT_TRUE(refused({{.path_begin = -1}}));
  EXPECT_TRUE(refused({{.path_size = kTreeDepthMax + 1}}));
}
TEST_F(StepCheck, RefusesTooManyRowsAndNone) {
  const TokenId tokens[] = {5, 6};
  rows_.prompt(0, blocks_, tokens, 33);
  EXPECT_THAT(error(), HasSubstr("a step of 5 rows; 1 to 4"));
  rows_ = Rows(2);
  EXPECT_THAT(error(), HasSubstr("a step of 0 rows"));
}

}  // namespace
}  // namespace slipstream
