// Weights of some layers of a model, from its folder.
#include "tools/train/weights.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/checkpoint/llama_config.h"
#include "tests/unit/tools/train/folder.h"
#include "tools/train/model_folder.h"

namespace slipstream::train {
namespace {

const std::filesystem::path kModel = SLIPSTREAM_TEST_DATA "/tiny-llama";

TEST(Weights, OfSomeLayersAreThoseOfTheseLayers) {
  const TestFolder folder;
  LlamaConfig config = read_llama_config(kModel).value();
  config.layers = 12;
  const Weights whole = Weights::random(llama_tensors(config), config.layers, 1);
  ASSERT_TRUE(write_model_folder(folder / "model", config, whole, kModel).has_value());
  config.layers = 3;
  const Checkpoint checkpoint = Checkpoint::open(folder / "model").value();
  const std::vector<int32_t> kept{1, 4, 11};
  const Weights some = Weights::load(checkpoint, llama_tensors(config), kept).value();
  const auto rounded = [&](const std::string& name) { return whole.at(name).to(at::kBFloat16).to(at::kFloat); };
  for (size_t layer = 0; layer < kept.size(); ++layer) {
    for (const char* name : {"self_attn.q_proj.weight", "mlp.down_proj.weight"}) {
      const std::string now = fmt::format("model.layers.{}.{}", layer, name);
      EXPECT_TRUE(some.at(now).equal(rounded(fmt::format("model.layers.{}.{}", kept[layer], name)))) << now;
    }
  }
  EXPECT_TRUE(some.at("model.embed_tokens.weight").equal(rounded("model.embed_tokens.weight")));
}

}  // namespace
}  // namespace slipstream::train
