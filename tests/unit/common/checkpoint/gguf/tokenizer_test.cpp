// What is written down; what a text becomes by it is tested with the router, which has the
// tokenizers library.
#include "common/checkpoint/gguf/tokenizer.h"

#include <optional>

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
  EXPECT_THAT(refusal({.kind = "t5"}), HasSubstr("its tokenizer is of kind \"t5\"; gpt2 (byte-level BPE) and llama"));
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

// Where the file does not say, llama-bpe does and the others do not, as in llama.cpp.
TEST_F(GgufTokenizer, PutsTheBeginningBeforeATextIfTheFileSaysSo) {
  const auto begins = [&](const std::string& pre, std::optional<bool> says) {
    GgufWriter writer = small_fields({.pre = pre});
    writer.u32("tokenizer.ggml.bos_token_id", 1);
    if (says) writer.flag("tokenizer.ggml.add_bos_token", *says);
    const json post = json::parse(gguf_tokenizer_json(open(writer)).value())["post_processor"];
    return post.is_object() && post["special_tokens"]["<tool>"]["ids"] == json({1});
  };
  EXPECT_TRUE(begins("smollm", true));
  EXPECT_FALSE(begins("smollm", std::nullopt));
  EXPECT_TRUE(begins("llama-bpe", std::nullopt));
  EXPECT_FALSE(begins("llama-bpe", false));
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
