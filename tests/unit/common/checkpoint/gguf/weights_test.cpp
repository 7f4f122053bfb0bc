#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "tests/data/gguf_of_folder.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

const std::filesystem::path kTiny = std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-llama";

std::vector<float> row_of(const HostMatrix& matrix, int32_t row) {
  std::vector<float> values(static_cast<size_t>(matrix.cols));
  read_row(matrix, row, values);
  return values;
}

class GgufFormats : public testing::TestWithParam<std::pair<GgmlType, float>> {};

// Every weight of a folder, through each format and back, in the folder's own order of rows: off by
// no more than its rounding.
TEST_P(GgufFormats, HoldAFoldersWeights) {
  const auto [type, step] = GetParam();
  const Folder folder;
  const auto path = GgufOfFolder(kTiny, type, "smollm").write(folder.path() / "x.gguf");
  const auto original = Checkpoint::open(kTiny), stored = Checkpoint::open(path);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  struct Named {
    const char* name;
    int32_t rows, cols;
  };
  for (const auto& [name, rows, cols] : {Named{"model.embed_tokens.weight", 64, 32},
                                         {"model.layers.1.self_attn.q_proj.weight", 32, 32},
                                         {"model.layers.1.self_attn.k_proj.weight", 16, 32},
                                         {"model.layers.0.mlp.down_proj.weight", 32, 64},
                                         {"model.layers.0.input_layernorm.weight", 1, 32}}) {
    const HostMatrix from = original->matrix(name, rows, cols).value(), to = stored->matrix(name, rows, cols).value();
    for (int32_t row = 0; row < rows; ++row) {
      const auto expected = row_of(from, row), read = row_of(to, row);
      const float most = std::abs(*std::ranges::max_element(expected, {}, [](float x) { return std::abs(x); }));
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(read[i], expected[i], rows == 1 ? 0 : step * most) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GgufFormats,
                         testing::Values(std::pair(GgmlType::f32, 0.0F), std::pair(GgmlType::bf16, 0.0F),
                                         std::pair(GgmlType::f16, 0.0005F), std::pair(GgmlType::q8_0, 0.005F),
                                         std::pair(GgmlType::q4_0, 0.08F), std::pair(GgmlType::q4_1, 0.075F)),
                         [](const auto& info) { return "type" + std::to_string(static_cast<int>(info.param.first)); });

TEST(GgufWeights, HandsOutTheFilesOwnBlocks) {
  const Folder folder;
  folder.write("x.gguf", small_gguf().bytes());
  const auto checkpoint = Checkpoint::open(folder.path() / "x.gguf");
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  const HostMatrix matrix = checkpoint->matrix("model.layers.0.self_attn.v_proj.weight", 16, 32).value();
  EXPECT_EQ(matrix.dtype, Dtype::q4_1);
  EXPECT_EQ(matrix.row(15).size(), 20u);
  EXPECT_EQ(matrix.row(15).data(), matrix.bytes.data() + 15 * 20);
  EXPECT_FALSE(checkpoint->has("lm_head.weight"));
  EXPECT_TRUE(checkpoint->has("model.norm.weight"));
}

TEST(GgufWeights, NameWhatIsMissingOrOfAnotherShape) {
  const Folder folder;
  folder.write("x.gguf", small_gguf().bytes());
  const auto checkpoint = Checkpoint::open(folder.path() / "x.gguf");
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_THAT(checkpoint->matrix("lm_head.weight", 8, 32).error().message,
              HasSubstr("x.gguf: tensor output.weight is missing"));
  EXPECT_THAT(checkpoint->matrix("model.layers.0.mlp.up_proj.weight", 64, 32).error().message,
              HasSubstr("tensor blk.0.ffn_up.weight has shape [32, 32], its metadata asks for [64, 32]"));
}

}  // namespace
}  // namespace slipstream
