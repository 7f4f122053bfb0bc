// What is written down; what a text becomes by it is tested with the router, which has the
// tokenizers library.
#include "common/checkpoint/gguf/tokenizer.h"

#include <cmath>
#include <optional>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"

namespace slipstream {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class GgufTokenizer : public testing::Test {
 protected:
  GgufFile open(const GgufWriter& writer) {
    folder_.write("x.gguf", writer.bytes());
    return GgufFile::open(folder_.path() / "x.gguf").value();
  }
  json tokenizer(const SmallGguf& made = {}) { return json::parse(gguf_tokenizer_json(open(small_fields(made))).value()); }
  std::string refusal(const SmallGguf& made) {
    const auto text = gguf_tokenizer_json(open(small_fields(made)));
    return text ? "accepted" : text.error().message;
  }
  Folder folder_;
};

TEST_F(GgufTokenizer, ListsTokensMergesAndWhatIsFoundInAnyText) {
  const json written = tokenizer();
  EXPECT_EQ(written["model"]["vocab"],
            json::parse(R"({"<|end|>": 0, "<tool>": 1, "a": 2, "b": 3, "ab": 4, "\u0120": 5, "1": 6})"));  // no unused one
  EXPECT_EQ(written["model"]["merges"], json::parse(R"([["a", "b"]])"));
  ASSERT_EQ(written["added_tokens"].size(), 2u);
  EXPECT_EQ(written["added_tokens"][0]["content"], "<|end|>");
  EXPECT_EQ(written["added_tokens"][0]["special"], true);
  EXPECT_EQ(written["added_tokens"][1]["content"], "<tool>");
  EXPECT_EQ(written["added_tokens"][1]["special"], false);
}

TEST_F(GgufTokenizer, WritesOutThePreTokenizersThatItKnows) {
  EXPECT_EQ(tokenizer()["pre_tokenizer"]["pretokenizers"][0]["type"], "Digits");
  EXPECT_EQ(tokenizer({.pre = "qwen2"})["normalizer"]["type"], "NFC");
  EXPECT_EQ(tokenizer({.pre = "llama-bpe"})["model"]["ignore_merges"], true);
}

TEST_F(GgufTokenizer, RefusesOthersByName) {
  EXPECT_THAT(refusal({.pre = "deepseek-llm"}), HasSubstr("x.gguf: its pre-tokenizer \"deepseek-llm\" is not known here"));
  EXPECT_THAT(refusal({.kind = "t5"}), HasSubstr("its tokenizer is of kind \"t5\"; gpt2 (byte-level BPE) and llama (Sent"));
}

TEST_F(GgufTokenizer, RefusesTokensThatAreNone) {
  EXPECT_THAT(refusal({.tokens = {"a", "a"}, .types = {1, 1}}), HasSubstr("token 1 is there twice: \"a\""));
  EXPECT_THAT(refusal({.tokens = {"a", "\xFF"}, .types = {1, 1}}), HasSubstr("token 1 is no UTF-8 text"));
  EXPECT_THAT(refusal({.tokens = {"a"}, .types = {1, 1}}), HasSubstr("1 tokens have 2 types"));
  EXPECT_THAT(refusal({.tokens = {"a"}, .types = {6}}), HasSubstr("token 0 is of type 6"));
  for (const char* merge : {"ab", " b", "a ", "a b c", "\xFF b"}) {
    EXPECT_THAT(refusal({.merges = {merge}}), HasSubstr("merge 0 is no pair of tokens"));
  }
}

TEST_F(GgufTokenizer, WritesASentencePieceBpe) {
  const json written = tokenizer(small_pieces());
  const json& model = written["model"];
  EXPECT_EQ(model["vocab"],
            json::parse(R"({"<unk>": 0, "<s>": 1, "a": 2, "b": 3, "ab": 4, "\u2581": 5, "<tool>": 6})"));  // no unused one
  EXPECT_EQ(model["merges"], json::parse(R"([["a", "b"]])"));
  EXPECT_EQ(model["unk_token"], "<unk>");
  EXPECT_EQ(model["fuse_unk"], true);
  EXPECT_EQ(model["byte_fallback"], true);
  ASSERT_EQ(written["added_tokens"].size(), 3u);
  for (const auto& [at, content, special] :
       {std::tuple(0, "<unk>", true), std::tuple(1, "<s>", true), std::tuple(2, "<tool>", false)}) {
    EXPECT_EQ(written["added_tokens"][at]["content"], content);
    EXPECT_EQ(written["added_tokens"][at]["special"], special);
  }
}

TEST_F(GgufTokenizer, PutsASpaceBeforeATextUnlessTheFileSaysNot) {
  const auto steps = [&](const GgufWriter& writer) {
    const json written = json::parse(gguf_tokenizer_json(open(writer)).value());
    std::string types;
    for (const json& step : written["normalizer"]["normalizers"]) types += step["type"].get<std::string>() + " ";
    for (const json& step : written["decoder"]["decoders"]) types += step["type"].get<std::string>() + " ";
    return types;
  };
  EXPECT_EQ(steps(small_fields(small_pieces())), "Prepend Replace Replace ByteFallback Fuse Strip ");
  GgufWriter without = small_fields(small_pieces());
  without.flag("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(steps(without), "Replace Replace ByteFallback Fuse ");
}

// A piece is a part of texts; a control token's text is none, though it can be put together.
TEST_F(GgufTokenizer, MergesPiecesOnly) {
  SmallGguf made = small_pieces();
  made.types[4] = 3;
  EXPECT_EQ(tokenizer(made)["model"]["merges"], json::array());
}

TEST_F(GgufTokenizer, PutsTheBeginningOfASequenceBeforeATextAsTheFileSays) {
  const auto begins = [&](const SmallGguf& made, std::optional<bool> asked, std::optional<uint32_t> id = 1) {
    GgufWriter writer = small_fields(made);
    if (asked) writer.flag("tokenizer.ggml.add_bos_token", *asked);
    if (id) writer.u32("tokenizer.ggml.bos_token_id", *id);
    const json post = json::parse(gguf_tokenizer_json(open(writer)).value())["post_processor"];
    return post.is_null() ? "nothing" : post["single"][0]["SpecialToken"]["id"].get<std::string>();
  };
  EXPECT_EQ(begins(small_pieces(), true), "<s>");
  EXPECT_EQ(begins(small_pieces(), false), "nothing");
  EXPECT_EQ(begins({.pre = "smollm"}, true), "<tool>");
  // llama.cpp does it by itself for these.
  EXPECT_EQ(begins(small_pieces(), std::nullopt), "<s>");
  EXPECT_EQ(begins({.pre = "llama-bpe"}, std::nullopt), "<tool>");
  EXPECT_EQ(begins({.pre = "qwen2"}, std::nullopt), "nothing");
  EXPECT_EQ(begins({.pre = "smollm"}, std::nullopt), "nothing");
  EXPECT_EQ(begins(small_pieces(), std::nullopt, std::nullopt), "nothing");
  GgufWriter without_id = small_fields(small_pieces());
  without_id.flag("tokenizer.ggml.add_bos_token", true);
  EXPECT_THAT(gguf_tokenizer_json(open(without_id)).error().message, HasSubstr("no field tokenizer.ggml.bos_token_id"));
}

TEST_F(GgufTokenizer, RefusesPiecesThatAreNone) {
  const auto spoiled = [&](auto&& spoil) {
    SmallGguf made = small_pieces();
    spoil(made);
    return refusal(made);
  };
  EXPECT_EQ(refusal(small_pieces()), "accepted");
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.scores.clear(); }), HasSubstr("no field tokenizer.ggml.scores"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.scores.pop_back(); }), HasSubstr("8 tokens have 7 scores"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.scores[2] = NAN; }), HasSubstr("the score of token 2 is no number"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.types[2] = 6; }), HasSubstr("token 2 stands for a byte and is none of"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.types[2] = 7; }), HasSubstr("token 2 is of type 7, which a SentencePiece"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.types[0] = 1; }), HasSubstr("no unknown token and 0 of 256 byte tokens"));
  EXPECT_THAT(spoiled([](SmallGguf& made) { made.tokens[2] = std::string(513, 'a'); }), HasSubstr("token 2 has 513 bytes"));
}

TEST_F(GgufTokenizer, GivesTheTemplateAndTheTokensItMayAskFor) {
  GgufWriter writer = small_fields();
  writer.u32("tokenizer.ggml.eos_token_id", 0).u32("tokenizer.ggml.bos_token_id", 1);
  EXPECT_EQ(json::parse(gguf_tokenizer_config(open(writer)).value()),
            json::parse(R"({"chat_template": "{{ messages[0].content }}{{ eos_token }}",
                            "eos_token": "<|end|>", "bos_token": "<tool>"})"));
  writer.u32("tokenizer.ggml.padding_token_id", 8);
  EXPECT_THAT(gguf_tokenizer_config(open(writer)).error().message, HasSubstr("padding_token_id is 8, supported are 0 to 7"));
  EXPECT_THAT(gguf_tokenizer_config(open(GgufWriter())).error().message, HasSubstr("has no tokenizer.chat_template"));
}

}  // namespace
}  // namespace slipstream
