// A trained folder is a model like any other: its configuration and its logits are read back.
#include "tools/train/model_folder.h"

#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/hf_config.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

class ModelFolderOf : public testing::TestWithParam<const char*> {};

// The weights' hash counts every field of the configuration that changes a logit, and the bytes.
TEST_P(ModelFolderOf, AModelHasItsConfigurationWeightsAndTokenizer) {
  const TestFolder folder;
  const auto source = test_data(GetParam());
  const LlamaConfig config = read_hf_config(source).value();
  const Weights weights = Weights::load(Checkpoint::open(source).value(), llama_tensors(config)).value();
  const auto written = write_model_folder(folder / "model", config, weights, source);
  ASSERT_TRUE(written.has_value()) << written.error().message;

  const auto back = read_llama_config(folder / "model");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->eos_ids, config.eos_ids);
  EXPECT_EQ(back->context_max, config.context_max);
  const auto hash = [&](const LlamaConfig& of) { return hash_weights(folder / "model", of).value(); };
  EXPECT_EQ(hash(*back), hash(config));
  const Weights again = Weights::load(Checkpoint::open(folder / "model").value(), llama_tensors(*back)).value();
  for (const Parameter& parameter : weights.all()) {
    EXPECT_TRUE(parameter.value.equal(again.at(parameter.spec.name))) << parameter.spec.name;
  }
  if (std::filesystem::exists(source / "tokenizer.json")) {
    EXPECT_EQ(hash_tokenizer(folder / "model").value(), hash_tokenizer(source).value());
  }
  EXPECT_TRUE(load_alone(folder / "model").has_value());
}

INSTANTIATE_TEST_SUITE_P(Families, ModelFolderOf, testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ModelFolder, RefusesFrequenciesThatNoConfigCanSay) {
  EXPECT_THAT(hf_config_json({.rope_divisors = {1, 2}}).error().message,
              testing::HasSubstr("train from its Hugging Face folder"));
}

}  // namespace
}  // namespace slipstream::train
