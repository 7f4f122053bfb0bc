#include "common/checkpoint/gguf/file.h"

#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/dequantise.h"
#include "common/checkpoint/gguf/config.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "tests/data/gguf_writer.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GgufFileTest : public testing::Test {
 protected:
  Result<GgufFile> open(const std::string& bytes) {
    folder_.write("x.gguf", bytes);
    return GgufFile::open(folder_.path() / "x.gguf");
  }
  std::string error(const std::string& bytes) {
    const auto file = open(bytes);
    return file ? "opened" : file.error().message;
  }
  // Of a file whose only field's value was written by hand.
  std::string error_of(GgufKind kind, const std::string& value) {
    return error(GgufWriter().value("key", kind, value).bytes());
  }
  std::string error_of_tensor(uint32_t type, const std::vector<uint64_t>& shape, size_t bytes, uint64_t offset = 0) {
    return error(GgufWriter().tensor_at(offset, "blk.0.attn_q.weight", type, shape, std::string(bytes, '\1')).bytes());
  }
  Folder folder_;
};

TEST_F(GgufFileTest, GivesOutFieldsOfEveryKind) {
  GgufWriter writer;
  writer.u32("u32", 7).f32("f32", 0.5F).flag("flag", true).text("text", "words").texts("texts", {"a", "", "b c"});
  writer.i32s("i32s", {-1, 2}).value("u8", GgufKind::u8, "\xFF").value("i8", GgufKind::i8, "\xFF");
  writer.value("u64", GgufKind::u64, std::string(8, '\xFF')).value("f64", GgufKind::f64, GgufWriter::raw(0.25));
  const auto file = open(writer.bytes());
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const GgufFields& fields = file->fields();
  EXPECT_EQ(fields.integer("u32", 0, 10).value(), 7);
  EXPECT_EQ(fields.number("f32", 0, 1).value(), 0.5);
  EXPECT_EQ(fields.number("f64", 0, 1).value(), 0.25);
  EXPECT_EQ(fields.number("u32", 0, 10).value(), 7.0);
  EXPECT_TRUE(fields.boolean_or("flag", false).value());
  EXPECT_TRUE(fields.boolean_or("none", true).value());
  EXPECT_EQ(fields.text("text").value(), "words");
  EXPECT_THAT(fields.texts("texts").value(), ElementsAre("a", "", "b c"));
  EXPECT_THAT(fields.integers("i32s").value(), ElementsAre(-1, 2));
  EXPECT_EQ(fields.integer("u8", 0, 300).value(), 255);
  EXPECT_EQ(fields.integer("i8", -5, 300).value(), -1);
  EXPECT_THAT(fields.integer("u64", 0, INT64_MAX).error().message, HasSubstr("u64 must be an integer"));
}

TEST_F(GgufFileTest, SaysWhichFieldIsMissingOrOfAnotherKind) {
  const auto file = open(GgufWriter().u32("n", 7).text("t", "x").texts("l", {"x"}).bytes());
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const GgufFields& fields = file->fields();
  EXPECT_THAT(fields.integer("m", 0, 1).error().message, HasSubstr("x.gguf has no field m"));
  EXPECT_THAT(fields.integer("n", 8, 9).error().message, HasSubstr("n is 7, supported are 8 to 9"));
  EXPECT_THAT(fields.integer("t", 0, 1).error().message, HasSubstr("t must be an integer"));
  EXPECT_THAT(fields.number("t", 0, 1).error().message, HasSubstr("t must be a number"));
  EXPECT_THAT(fields.integer("l", 0, 1).error().message, HasSubstr("l must be one value, not a list"));
  EXPECT_THAT(fields.text("n").error().message, HasSubstr("n must be a text"));
  EXPECT_THAT(fields.texts("t").error().message, HasSubstr("t must be a list"));
  EXPECT_THAT(fields.integers("l").error().message, HasSubstr("l must be a list of integers"));
  EXPECT_THAT(fields.boolean_or("n", false).error().message, HasSubstr("n must be true or false"));
}

TEST_F(GgufFileTest, GivesOutTensorsOutermostDimensionFirst) {
  GgufWriter writer;
  writer.tensor("a", 8, {3, 64}, std::string(3 * 2 * 34, '\1')).tensor("b", 0, {5}, std::string(20, '\2'));
  for (const uint32_t version : {2, 3}) {
    const auto file = open(writer.bytes(version));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_THAT(file->tensors().at("a").shape, ElementsAre(3, 64));
    EXPECT_EQ(file->tensors().at("a").dtype, Dtype::q8_0);
    EXPECT_EQ(file->tensors().at("a").bytes.size(), 3u * 2 * 34);
    EXPECT_EQ(file->tensors().at("b").bytes.front(), std::byte{2});
  }
}

TEST_F(GgufFileTest, RefusesOtherTypesByName) {
  EXPECT_THAT(
      error_of_tensor(18, {2, 256}, 196),
      HasSubstr("x.gguf: tensor blk.0.attn_q.weight: its type is IQ3_XXS, and supported are F32, F16, BF16, Q8_0, Q4_0 to "
                "Q5_1, Q2_K to Q6_K, IQ4_NL and IQ4_XS: take the model in one of these, or convert it with `llama-quantize"));
  EXPECT_THAT(error_of_tensor(39, {2, 32}, 34), HasSubstr("MXFP4"));
  EXPECT_THAT(error_of_tensor(4, {2, 32}, 36), HasSubstr("number 4"));
  EXPECT_THAT(error_of_tensor(0xFFFFFFFF, {2, 32}, 36), HasSubstr("number 4294967295"));
}

TEST_F(GgufFileTest, RefusesWhatIsNoGgufFileOfOurs) {
  EXPECT_THAT(error("PK\3\4 and more than eight bytes"), HasSubstr("does not begin with \"GGUF\""));
  EXPECT_THAT(error(GgufWriter().bytes(1)), HasSubstr("version 1, supported are 2 and 3"));
  EXPECT_THAT(error(GgufWriter().bytes(0x03000000)), HasSubstr("big-endian"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("GG"), HasSubstr("truncated"));
  EXPECT_THAT(error(GgufWriter().u32("split.count", 3).bytes()), HasSubstr("llama-gguf-split --merge"));
}

TEST_F(GgufFileTest, RefusesCountsAndLengthsThatNoFileHas) {
  const std::string many(8, '\xFF');
  EXPECT_THAT(error("GGUF" + GgufWriter::raw(3) + many + many), HasSubstr("tensors, the limit is 65536"));
  EXPECT_THAT(error("GGUF" + GgufWriter::raw(3) + std::string(8, '\0') + many), HasSubstr("fields, the limit is 65536"));
  EXPECT_THAT(error_of(GgufKind::text, many), HasSubstr("field key: a text at byte"));
  EXPECT_THAT(error_of(GgufKind::text, GgufWriter::raw(uint64_t{99}) + "short"), HasSubstr("truncated"));
  const std::string texts = GgufWriter::raw(uint32_t{8}), numbers = GgufWriter::raw(uint32_t{10});
  EXPECT_THAT(error_of(GgufKind::list, texts + many), HasSubstr("members, the limit is"));
  EXPECT_THAT(error_of(GgufKind::list, numbers + GgufWriter::raw(uint64_t{1} << 20)), HasSubstr("truncated"));
  EXPECT_THAT(error_of(GgufKind::list, GgufWriter::raw(uint32_t{9}) + many), HasSubstr("a list of lists"));
  EXPECT_THAT(error_of(static_cast<GgufKind>(13), many), HasSubstr("its type 13 is unknown"));
  EXPECT_THAT(error(GgufWriter().u32("a", 1).u32("a", 1).bytes()), HasSubstr("field a is there twice"));
}

TEST_F(GgufFileTest, RefusesTensorsThatDoNotFit) {
  EXPECT_THAT(error_of_tensor(0, {2, 8}, 32), HasSubstr("needs 64 bytes from byte 0 of the data, which has 32"));
  EXPECT_THAT(error_of_tensor(0, {2, 8}, 64, 32), HasSubstr("truncated"));
  EXPECT_THAT(error_of_tensor(0, {2, 8}, 64, uint64_t{1} << 63), HasSubstr("truncated"));
  EXPECT_THAT(error_of_tensor(0, {2, 8}, 64, 4), HasSubstr("no multiple of 32"));
  EXPECT_THAT(error_of_tensor(0, {uint64_t{1} << 40, uint64_t{1} << 40}, 64), HasSubstr("its shape overflows"));
  EXPECT_THAT(error_of_tensor(0, {uint64_t{1} << 62, 1}, 64), HasSubstr("its shape overflows"));
  EXPECT_THAT(error_of_tensor(0, {uint64_t{1} << 63, 1}, 64), HasSubstr("no size"));
  EXPECT_THAT(error_of_tensor(0, {0, 4}, 64), HasSubstr("holds 0, which is no size"));
  EXPECT_THAT(error_of_tensor(0, {}, 64), HasSubstr("has 0 dimensions"));
  EXPECT_THAT(error_of_tensor(0, {1, 1, 1, 1, 1}, 64), HasSubstr("has 5 dimensions"));
  EXPECT_THAT(error_of_tensor(8, {2, 33}, 128), HasSubstr("no whole blocks of 32"));
}

TEST_F(GgufFileTest, RefusesTensorsOverOneAnother) {
  GgufWriter writer;
  writer.tensor_at(0, "a", 0, {16}, std::string(64, '\1')).tensor_at(32, "b", 0, {8}, "");
  EXPECT_THAT(error(writer.bytes()), HasSubstr("tensor b overlaps"));
  GgufWriter twice;
  twice.tensor("a", 0, {8}, std::string(32, '\1')).tensor("a", 0, {8}, std::string(32, '\1'));
  EXPECT_THAT(error(twice.bytes()), HasSubstr("tensor a is there twice"));
}

TEST_F(GgufFileTest, KeepsToTheAlignmentThatTheFileNames) {
  for (const uint32_t alignment : {0u, 3u, 48u, 1u << 21}) {
    EXPECT_THAT(error(GgufWriter().u32("general.alignment", alignment).bytes()), HasSubstr("general.alignment"));
  }
  GgufWriter writer;
  writer.u32("general.alignment", 64).tensor_at(32, "a", 0, {8}, std::string(64, '\1'));
  EXPECT_THAT(error(writer.bytes()), HasSubstr("no multiple of 64"));
}

// Opens it, and touches all that a router and a verifier would.
size_t read_all(const std::filesystem::path& path) {
  const auto file = GgufFile::open(path);
  if (!file) {
    EXPECT_TRUE(file.error().message.starts_with(path.string())) << file.error().message;
    return 0;
  }
  size_t touched = 1;
  for (const auto& [name, tensor] : file->tensors()) {
    touched += std::accumulate(tensor.bytes.begin(), tensor.bytes.end(), size_t{0},
                               [](size_t sum, std::byte each) { return sum + static_cast<size_t>(each); });
  }
  for (const auto& result : {gguf_tokenizer_json(*file), gguf_tokenizer_config(*file)}) {
    touched += result ? result->size() : 0;
    EXPECT_TRUE(result || result.error().message.find(path.string()) != std::string::npos);
  }
  if (const auto config = read_gguf_config(*file)) touched += static_cast<size_t>(config->vocabulary);
  return touched;
}

constexpr size_t kMetadataBytes = 1800;  // about: where most of what can go wrong is

TEST_F(GgufFileTest, SurvivesTruncationAnywhere) {
  const std::string good = small_gguf().bytes();
  folder_.write("x.gguf", good);
  EXPECT_GT(read_all(folder_.path() / "x.gguf"), 0u);
  for (size_t length = 0; length < good.size(); length += length < kMetadataBytes ? 1 : 61) {
    folder_.write("x.gguf", good.substr(0, length));
    EXPECT_EQ(read_all(folder_.path() / "x.gguf"), 0u) << length << " of " << good.size();
  }
}

TEST_F(GgufFileTest, SurvivesRandomChangesOfItsBytes) {
  const std::string good = small_gguf().bytes();
  std::mt19937 random(6);
  int opened = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bad = good;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % (random() % 4 == 0 ? bad.size() : kMetadataBytes);
      bad[at] = random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(bad[at] ^ 1 << random() % 8);
    }
    folder_.write("x.gguf", bad);
    ++(read_all(folder_.path() / "x.gguf") > 0 ? opened : refused);
  }
  EXPECT_GT(opened, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace slipstream
