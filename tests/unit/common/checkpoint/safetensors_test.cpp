#include "common/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

class Safetensors : public testing::Test {
 protected:
  // The error of a file with this header and that many bytes of data.
  std::string refusal(const std::string& header, size_t data_bytes) {
    folder_.write_safetensors("model.safetensors", header, data_bytes);
    return error();
  }
  std::string error() {
    const auto file = SafetensorsFile::open(folder_.path() / "model.safetensors");
    return file ? "opened" : file.error().message;
  }
  Folder folder_;
};

TEST_F(Safetensors, GivesOutTensorsByName) {
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + tensor("a", "BF16", "[2,3]", "[0,12]") + "," +
                             tensor("b", "F32", "[2]", "[12,20]") + "}";
  folder_.write_safetensors("model.safetensors", header, 20);
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  const auto a = checkpoint->matrix("a", 2, 3);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->dtype, Dtype::bf16);
  EXPECT_EQ(a->bytes.size(), 12u);
  const auto b = checkpoint->matrix("b", 1, 2);
  ASSERT_TRUE(b.has_value()) << b.error().message;
  EXPECT_EQ(b->dtype, Dtype::f32);
  EXPECT_TRUE(checkpoint->has("a"));
  EXPECT_FALSE(checkpoint->has("c"));
}

TEST_F(Safetensors, GivesOutTheTextsOfItsMetadata) {
  folder_.write_safetensors("model.safetensors", R"({"__metadata__":{"step":"7","format":"pt","odd":3}})", 0);
  const auto file = SafetensorsFile::open(folder_.path() / "model.safetensors");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_THAT(file->metadata(), testing::UnorderedElementsAre(testing::Pair("step", "7"), testing::Pair("format", "pt")));
}

TEST_F(Safetensors, NamesShapesThatDiffer) {
  folder_.write_safetensors("model.safetensors", "{" + tensor("a", "BF16", "[2,3]", "[0,12]") + "}", 12);
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_THAT(checkpoint->matrix("a", 3, 2).error().message, HasSubstr("has shape [2, 3], its config.json asks for [3, 2]"));
  EXPECT_THAT(checkpoint->matrix("c", 1, 1).error().message, HasSubstr("tensor c is missing"));
}

TEST_F(Safetensors, RefusesToReadIntegersAsWeights) {
  folder_.write_safetensors("model.safetensors", "{" + tensor("a", "I64", "[1,1]", "[0,8]") + "}", 8);
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_THAT(checkpoint->matrix("a", 1, 1).error().message, HasSubstr("is I64, supported are F32, F16 and BF16"));
}

TEST_F(Safetensors, RefusesWeightsAtAnOddByte) {
  const std::string header = "{" + tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("b", "BF16", "[1]", "[1,3]") + "}";
  folder_.write_safetensors("model.safetensors", header, 3);
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_THAT(checkpoint->matrix("b", 1, 1).error().message, HasSubstr("odd byte"));
}

TEST_F(Safetensors, RefusesAHeaderLongerThanTheFile) {
  folder_.write("model.safetensors", std::string("\x10\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(error(), HasSubstr("truncated"));
  folder_.write("model.safetensors", std::string(8, '\xFF') + "{}");
  EXPECT_THAT(error(), HasSubstr("the limit is"));
  folder_.write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 134\n");
  EXPECT_THAT(error(), HasSubstr("git lfs pull"));
  folder_.write("model.safetensors", "{}");
  EXPECT_THAT(error(), HasSubstr("too few"));
  folder_.write("model.safetensors", "");
  EXPECT_THAT(error(), HasSubstr("empty"));
}

TEST_F(Safetensors, RefusesDataOutsideTheFile) {
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2,3]", "[0,12]") + "}", 11), HasSubstr("truncated"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2,3]", "[18446744073709551604,18446744073709551615]") + "}", 12),
              HasSubstr("truncated"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2,3]", "[-12,0]") + "}", 12), HasSubstr("not two plain numbers"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2,3]", "[12,0]") + "}", 12), HasSubstr("backwards"));
}

TEST_F(Safetensors, RefusesShapesThatOverflow) {
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[4294967296,4294967296]", "[0,12]") + "}", 12), HasSubstr("overflows"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[9223372036854775807,2]", "[0,12]") + "}", 12), HasSubstr("overflows"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[-1,-6]", "[0,12]") + "}", 12), HasSubstr("no plain sizes"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[1,1,1,1,1,1,1,1,6]", "[0,12]") + "}", 12), HasSubstr("9 dimensions"));
}

TEST_F(Safetensors, RefusesASizeThatIsNotTheShapes) {
  EXPECT_THAT(refusal("{" + tensor("a", "F32", "[2,3]", "[0,12]") + "}", 12),
              HasSubstr("takes 24 bytes, its data_offsets span 12"));
}

TEST_F(Safetensors, RefusesOverlapsAndHoles) {
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[4]", "[0,8]") + "," + tensor("b", "BF16", "[4]", "[4,12]") + "}", 12),
              HasSubstr("tensor b overlaps"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2]", "[0,4]") + "," + tensor("b", "BF16", "[2]", "[8,12]") + "}", 12),
              HasSubstr("hole"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2]", "[0,4]") + "}", 12), HasSubstr("8 bytes behind"));
}

TEST_F(Safetensors, RefusesHostileJson) {
  EXPECT_THAT(refusal(std::string(1000, '['), 0), HasSubstr("no valid JSON"));
  EXPECT_THAT(refusal("[]", 0), HasSubstr("must hold a JSON object"));
  EXPECT_THAT(refusal("{\"a\":7}", 0), HasSubstr("description is no object"));
  EXPECT_THAT(refusal("{" + tensor("a", "Q4_K", "[2]", "[0,4]") + "}", 4), HasSubstr("dtype Q4_K is unknown"));
  EXPECT_THAT(refusal("{" + tensor("a", "BF16", "[2]", "[0,4]") + "," + tensor("a", "BF16", "[2]", "[0,4]") + "}", 4),
              HasSubstr("named twice"));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "{\"a\":";
  EXPECT_THAT(refusal(deep + "1" + std::string(200, '}'), 0), HasSubstr("no valid JSON"));
}

TEST_F(Safetensors, ReadsShardsThatAnIndexNames) {
  folder_.write_safetensors("one.safetensors", "{" + tensor("a", "BF16", "[2]", "[0,4]") + "}", 4);
  folder_.write_safetensors("two.safetensors", "{" + tensor("b", "BF16", "[2]", "[0,4]") + "}", 4);
  folder_.write("model.safetensors.index.json", R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_TRUE(checkpoint->matrix("a", 1, 2).has_value());
  EXPECT_TRUE(checkpoint->matrix("b", 1, 2).has_value());
  std::filesystem::remove(folder_.path() / "two.safetensors");
  EXPECT_THAT(Checkpoint::open(folder_.path()).error().message, HasSubstr("two.safetensors"));
}

TEST_F(Safetensors, RefusesShardsOutsideTheFolder) {
  folder_.write("model.safetensors.index.json", R"({"weight_map":{"a":"../one.safetensors"}})");
  EXPECT_THAT(Checkpoint::open(folder_.path()).error().message, HasSubstr("no plain *.safetensors file name"));
  folder_.write("model.safetensors.index.json", R"({"weight_map":{}})");
  EXPECT_THAT(Checkpoint::open(folder_.path()).error().message, HasSubstr("names 0 files"));
  folder_.write("model.safetensors.index.json", R"({"weight_map":[1]})");
  EXPECT_THAT(Checkpoint::open(folder_.path()).error().message, HasSubstr("must be an object"));
}

// Every prefix of a good file, and the file with each byte of its header changed: an answer or an
// error, never a crash.
TEST_F(Safetensors, SurvivesTruncationAndChangedBytes) {
  const std::string header = "{" + tensor("a", "BF16", "[2,3]", "[0,12]") + "," + tensor("b", "F32", "[2]", "[12,20]") + "}";
  folder_.write_safetensors("model.safetensors", header, 20);
  std::ifstream in(folder_.path() / "model.safetensors", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  for (size_t length = 0; length < good.size(); ++length) {
    folder_.write("model.safetensors", good.substr(0, length));
    EXPECT_NE(error(), "opened") << length;
  }
  for (size_t at = 0; at < 8 + header.size(); ++at) {
    for (const char byte : {'\0', '9', '-', '"', '}', '\xFF'}) {
      std::string bad = good;
      bad[at] = byte;
      folder_.write("model.safetensors", bad);
      error();
    }
  }
}

}  // namespace
}  // namespace slipstream
