// A model whose tokens are SentencePiece's: what is streamed, what is sent whole and the bytes of
// the tokens are one text, which goes on that of the prompt; and grammars know the bytes.
#include <stdexcept>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/model_text/read_tokenizer.h"
#include "common/text/utf8.h"
#include "tests/data/own_path.h"
#include "tests/data/sentencepiece_gguf.h"
#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

constexpr int kAnswer = 80;  // tokens

class SentencePieceModel : public testing::Test {
 protected:
  SentencePieceModel() {
    std::filesystem::create_directories(home_);
    file_ = RandomLlama("with_bytes").write(home_ / "pieces.gguf");
    tokenizer_ = read_tokenizer(file_).value();
    cluster_ = std::make_unique<Cluster>(file_);
    cluster_->start_all("ngram");
  }
  ~SentencePieceModel() override { std::filesystem::remove_all(home_); }

  json post(const char* path, const json& fields) const {
    const auto reply = cluster_->client().post(path, fields.dump());
    if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
    return json::parse(reply->body);
  }
  // The texts of a stream, together.
  std::string streamed(const char* path, json fields) const {
    fields["stream"] = true;
    std::string text;
    const auto reply = cluster_->client().post_stream(path, fields.dump(), [&](std::string_view data) {
      if (data == "[DONE]") return true;
      for (const json& choice : json::parse(data).value("choices", json::array())) {
        text += choice.contains("delta") ? choice["delta"].value("content", "") : choice.value("text", "");
      }
      return true;
    });
    if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
    return text;
  }
  // Of special tokens no text is told, so none comes.
  static json asking(json fields) {
    fields.update({{"max_tokens", kAnswer},
                   {"temperature", 1},
                   {"ignore_eos", true},
                   {"logit_bias", {{"0", -100}, {"1", -100}, {"2", -100}}},
                   {"slipstream", {{"tokens", true}}}});
    return fields;
  }
  static std::vector<TokenId> ids_of(const json& reply) { return reply.at("slipstream").at("token_ids"); }

  std::filesystem::path home_ = own_path("sentencepiece"), file_;
  std::optional<Tokenizer> tokenizer_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(SentencePieceModel, GoesOnTheTextOfAPromptWholeAndStreamed) {
  for (int seed = 0; seed < 12; ++seed) {
    for (const std::string prompt : {"the words of", " ", "日本語 😀\n", ""}) {  // "": the token that begins a sequence
      const json fields = asking({{"prompt", prompt}, {"seed", seed}});
      const json reply = post("/v1/completions", fields);
      const std::string text = reply["choices"][0]["text"];
      std::vector<TokenId> all = tokenizer_->encode(prompt, true).value();
      const std::vector<TokenId> ids = ids_of(reply);
      ASSERT_EQ(ids.size(), static_cast<size_t>(kAnswer));
      all.insert(all.end(), ids.begin(), ids.end());
      EXPECT_EQ(prompt + text, lossy_utf8(tokenizer_->whole_text(all).value())) << prompt;
      EXPECT_EQ(streamed("/v1/completions", fields), text);
    }
  }
}

TEST_F(SentencePieceModel, KeepsTheSpaceOfAnAnswerOnlyBehindAText) {
  json fields = asking({{"max_tokens", 3}, {"logprobs", 1}});
  fields["logit_bias"] = {{std::to_string(tokenizer_->id("▁the").value()), 100}};
  fields["max_tokens"] = 3;
  for (const auto& [prompt, text, second] :
       {std::tuple(json("see"), " the the the", 4), std::tuple(json(""), "the the the", 3),
        std::tuple(json({1, 1}), "the the the", 3), std::tuple(json({1, 300}), " the the the", 4)}) {
    fields["prompt"] = prompt;
    const json choice = post("/v1/completions", fields)["choices"][0];
    EXPECT_EQ(choice["text"], text) << prompt;
    EXPECT_EQ(streamed("/v1/completions", fields), text) << prompt;
    EXPECT_EQ(choice["logprobs"]["tokens"], json({" the", " the", " the"})) << prompt;
    EXPECT_EQ(choice["logprobs"]["text_offset"], json({0, second, second + 4})) << prompt;
  }
}

TEST_F(SentencePieceModel, TellsTheBytesOfAChatsTokens) {
  for (int seed = 0; seed < 4; ++seed) {
    const json fields =
        asking({{"messages", {{{"role", "user"}, {"content", "the words"}}}}, {"seed", seed}, {"logprobs", true}});
    const json reply = post("/v1/chat/completions", fields);
    std::string bytes;
    for (const json& token : reply["choices"][0]["logprobs"]["content"]) {
      for (const json& byte : token["bytes"]) bytes += static_cast<char>(byte.get<int>());
    }
    EXPECT_EQ(bytes, tokenizer_->decode(ids_of(reply), true).value());
    EXPECT_EQ(reply["choices"][0]["message"]["content"], lossy_utf8(bytes));
    EXPECT_EQ(streamed("/v1/chat/completions", fields), lossy_utf8(bytes));
  }
}

TEST_F(SentencePieceModel, FollowsAGrammar) {
  const json schema = json::parse(
      R"({"type": "object", "properties": {"a": {"enum": ["the words\n", "日本語", "😀"]}, "b": {"type": "boolean"}},
                      "required": ["a", "b"], "additionalProperties": false})");
  for (int seed = 0; seed < 6; ++seed) {
    json fields =
        asking({{"messages", {{{"role", "user"}, {"content", "answer"}}}},
                {"seed", seed},
                {"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", schema}}}}}});
    fields.erase("ignore_eos");
    fields.erase("logit_bias");
    const json reply = post("/v1/chat/completions", fields);
    const json told = json::parse(reply["choices"][0]["message"]["content"].get<std::string>());
    EXPECT_THAT((std::vector<std::string>{"the words\n", "日本語", "😀"}), testing::Contains(told["a"].get<std::string>()));
    EXPECT_TRUE(told["b"].is_boolean());
    EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
  }
}

TEST_F(SentencePieceModel, GivesTheTokensOfATextAndTheTextOfTokens) {
  for (const auto& one : sentencepiece_golden("with_bytes")["texts"]) {
    const json tokens = post("/tokenize", {{"prompt", one["text"]}, {"add_special_tokens", false}});
    // The markup of special tokens is theirs in a prompt, and text to the sentencepiece package.
    if (tokenizer_->encode(one["text"].get<std::string>(), true).value() !=
        tokenizer_->encode(one["text"].get<std::string>(), false).value())
      continue;
    EXPECT_EQ(tokens["tokens"], one["ids"]);
    EXPECT_EQ(post("/detokenize", {{"tokens", one["ids"]}})["prompt"], one["decoded"]);
  }
  EXPECT_EQ(post("/tokenize", {{"prompt", "the"}})["tokens"][0], 1);
}

}  // namespace
}  // namespace slipstream::e2e
