// What is written down; that it gives SentencePiece's tokens is tested with the router, which has
// the tokenizers library (model_folder_test.cpp).
#include "common/checkpoint/gguf/sentence_piece.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/gguf_writer.h"
#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Pieces {
  std::vector<std::string> tokens{"<unk>", "<s>", "a", "b", "c", "ab", "bc", "abc"};
  std::vector<int32_t> types{2, 3, 1, 1, 1, 1, 1, 1};
  std::vector<float> scores{0, 0, -3, -4, -5, -2, -1, -2};
};

class GgufSentencePiece : public testing::Test {
 protected:
  Result<json> read(const Pieces& pieces, const std::function<void(GgufWriter&)>& more = {}) {
    GgufWriter writer;
    std::string scores;
    for (const float score : pieces.scores) scores += GgufWriter::raw(score);
    writer.texts("tokenizer.ggml.tokens", pieces.tokens).i32s("tokenizer.ggml.token_type", pieces.types);
    writer.list("tokenizer.ggml.scores", GgufKind::f32, pieces.scores.size(), scores).u32("tokenizer.ggml.bos_token_id", 1);
    if (more) more(writer);
    folder_.write("x.gguf", writer.bytes());
    return sentence_piece_json(GgufFile::open(folder_.path() / "x.gguf").value());
  }
  std::string refusal(const Pieces& pieces, const std::function<void(GgufWriter&)>& more = {}) {
    const auto read_anyway = read(pieces, more);
    return read_anyway ? "accepted" : read_anyway.error().message;
  }
  Folder folder_;
};

// "bc" has the highest score; "ab" and "abc" have one score, and "abc" has two ways to be made.
TEST_F(GgufSentencePiece, RanksEveryWayToMakeATokenByItsScore) {
  EXPECT_EQ(read({}).value()["model"]["merges"], json::parse(R"([["b", "c"], ["ab", "c"], ["a", "bc"], ["a", "b"]])"));
}

// As transformers' generate_merges() has them: characters count, and then the order of the ids.
TEST_F(GgufSentencePiece, OrdersWhatHasOneScoreByTheLengthsOfItsParts) {
  EXPECT_EQ(read({.tokens = {"<unk>", "a", "b", "bb", "aa", "aaa", "é", "éé"},
                  .types = {2, 1, 1, 1, 1, 1, 1, 1},
                  .scores = {0, 0, 0, -1, -1, -1, 0, -1}})
                .value()["model"]["merges"],
            json::parse(R"([["aa", "a"], ["a", "aa"], ["b", "b"], ["a", "a"], ["é", "é"]])"));
}

// A control token's text means nothing in a text, though it can be put together.
TEST_F(GgufSentencePiece, MergesPiecesOnly) {
  EXPECT_EQ(read({.types = {2, 3, 1, 1, 1, 3, 1, 1}}).value()["model"]["merges"], json::parse(R"([["b", "c"], ["a", "bc"]])"));
}

TEST_F(GgufSentencePiece, FallsBackToBytesOnlyIfAllAreThere) {
  Pieces pieces;
  EXPECT_EQ(read(pieces).value()["model"]["byte_fallback"], false);
  EXPECT_EQ(read(pieces).value()["model"]["unk_token"], "<unk>");
  for (int byte = 0; byte < 256; ++byte) {
    pieces.tokens.push_back(fmt::format("<0x{:02X}>", byte));
    pieces.types.push_back(6);
    pieces.scores.push_back(0);
  }
  EXPECT_EQ(read(pieces).value()["model"]["byte_fallback"], true);
}

TEST_F(GgufSentencePiece, PutsASpaceAndTheBeginningBeforeATextUnlessTheFileSaysOtherwise) {
  const json usual = read({}).value();
  EXPECT_EQ(usual["normalizer"]["normalizers"].size(), 2u);
  EXPECT_EQ(usual["decoder"]["decoders"].back()["type"], "Strip");
  EXPECT_EQ(usual["post_processor"]["special_tokens"]["<s>"]["ids"], json({1}));
  const json other = read({}, [](GgufWriter& writer) {
                       writer.flag("tokenizer.ggml.add_space_prefix", false).flag("tokenizer.ggml.add_bos_token", false);
                     }).value();
  EXPECT_EQ(other["normalizer"]["normalizers"].size(), 1u);
  EXPECT_EQ(other["decoder"]["decoders"].back()["type"], "Fuse");
  EXPECT_TRUE(other["post_processor"].is_null());
}

TEST_F(GgufSentencePiece, RefusesWhatItWouldReadOtherwise) {
  EXPECT_THAT(refusal({.scores = {1}}), HasSubstr("8 tokens have 1 scores"));
  EXPECT_THAT(refusal({.scores = {0, 0, 0, 0, 0, 0, 0, INFINITY}}), HasSubstr("holds a number that is not finite"));
  EXPECT_THAT(refusal({.tokens = {"<unk>", "\xFF"}, .types = {2, 1}, .scores = {0, 0}}), HasSubstr("token 1 is no UTF-8 text"));
  EXPECT_THAT(refusal({.tokens = {"a"}, .types = {7}, .scores = {0}}), HasSubstr("of type 7, which a SentencePiece tokenizer"));
  EXPECT_THAT(refusal({.tokens = {std::string(257, 'a')}, .types = {1}, .scores = {0}}), HasSubstr("has 257 bytes"));
  EXPECT_THAT(refusal({.tokens = {"<unk>", "\u2581\u2581"}, .types = {2, 4}, .scores = {0, 0}}),
              HasSubstr("user-defined and holds a space"));
  EXPECT_THAT(refusal({.tokens = {"<unk>", "<0x0a>"}, .types = {2, 6}, .scores = {0, 0}}),
              HasSubstr("token 1 stands for a byte and is none of <0x00> to <0xFF>: \"<0x0a>\""));
  EXPECT_THAT(refusal({.tokens = {"<s>", "a"}, .types = {3, 1}, .scores = {0, 0}}), HasSubstr("neither an unknown token nor"));
  EXPECT_THAT(refusal({}, [](GgufWriter& writer) { writer.flag("tokenizer.ggml.remove_extra_whitespaces", true); }),
              HasSubstr("changes texts before it reads them"));
}

}  // namespace
}  // namespace slipstream
