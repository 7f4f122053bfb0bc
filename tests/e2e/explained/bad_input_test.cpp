// Every mistake of a client is answered in OpenAI's shape, with the status that its library acts
// upon and the field at fault.
#include <simdjson.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

struct Mistake {
  std::string name, body;
  int status;
  std::string param, code;  // "": null
};

const std::string kHello = R"("messages": [{"role": "user", "content": "hello"}])";

std::string with(const std::string& fields) { return "{" + kHello + ", " + fields + "}"; }

std::string nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
}

std::vector<Mistake> mistakes() {
  const std::string long_text(4096, 'a');
  return {
      {"nothing", "", 400, "", "invalid_json"},
      {"half a body", R"({"messages": [)", 400, "", "invalid_json"},
      {"a list", "[]", 400, "", "invalid_json"},
      {"too deep", with(R"("x": )" + nested(1000)), 400, "", "invalid_json"},
      {"no messages", "{}", 400, "messages", "invalid_value"},
      {"empty messages", R"({"messages": []})", 400, "messages", "invalid_value"},
      {"a strange role", R"({"messages": [{"role": "king", "content": "x"}]})", 400, "messages[0].role", "invalid_value"},
      {"content that is a number", R"({"messages": [{"role": "user", "content": 5}]})", 400, "messages[0].content",
       "invalid_value"},
      {"an over-long prompt", R"({"messages": [{"role": "user", "content": ")" + long_text + R"("}]})", 400, "messages",
       "context_length_exceeded"},
      {"a hot temperature", with(R"("temperature": 2.5)"), 400, "temperature", "invalid_value"},
      {"a worded temperature", with(R"("temperature": "hot")"), 400, "temperature", "invalid_type"},
      {"top_p of zero", with(R"("top_p": 0)"), 400, "top_p", "invalid_value"},
      {"min_p of one", with(R"("min_p": 1)"), 400, "min_p", "invalid_value"},
      {"half a top_k", with(R"("top_k": 1.5)"), 400, "top_k", "invalid_type"},
      {"no tokens", with(R"("max_tokens": 0)"), 400, "max_tokens", "invalid_value"},
      {"a seed in words", with(R"("seed": "x")"), 400, "seed", "invalid_type"},
      {"too long a stop", with(fmt::format("\"stop\": \"{}\"", std::string(257, 'x'))), 400, "stop", "invalid_value"},
      {"an empty stop", with(R"("stop": [""])"), 400, "stop", "invalid_value"},
      {"stream in words", with(R"("stream": "yes")"), 400, "stream", "invalid_type"},
      {"options without a stream", with(R"("stream_options": {"include_usage": true})"), 400, "stream_options",
       "invalid_value"},
      {"another model", with(R"("model": "gpt-5")"), 404, "model", "model_not_found"},
      {"nine choices", with(R"("n": 9)"), 400, "n", "invalid_value"},
      {"half a tool", with(R"("tools": [{"type": "function"}])"), 400, "tools[0].function", "invalid_value"},
      {"tools that the template has no place for", with(R"("tools": [{"type": "function", "function": {"name": "f"}}])"), 400,
       "tools", "unsupported_parameter"},
      {"all logprobs of the prompt", with(R"("prompt_logprobs": -1)"), 400, "prompt_logprobs", "invalid_value"},
      {"logprobs of the prompt in a stream", with(R"("prompt_logprobs": 1, "stream": true)"), 400, "prompt_logprobs",
       "invalid_value"},
      {"a bias of no token", with(R"("logit_bias": {"64": 1})"), 400, "logit_bias", "invalid_value"},
      {"too many alternatives", with(R"("logprobs": true, "top_logprobs": 21)"), 400, "top_logprobs", "invalid_value"},
      {"a field of ours misspelt", with(R"("speculation": {"enable": true})"), 400, "speculation.enable", "invalid_value"},
      {"speculation off with a rule", with(R"("speculation": {"enabled": false, "rule": "coupled"})"), 400, "speculation.rule",
       "invalid_value"},
      {"a drafter that nobody knows", with(R"("speculation": {"drafter": "crystal"})"), 400, "speculation.drafter",
       "invalid_value"},
      {"special tokens in numbers", with(R"("skip_special_tokens": 1)"), 400, "skip_special_tokens", "invalid_type"},
      {"only the end, and not at once", with(R"("allowed_token_ids": [2], "min_tokens": 1)"), 400, "allowed_token_ids",
       "invalid_value"},
      {"a body over the limit", std::string(kHttpBodyBytesMax + 1, ' '), 413, "", "body_too_large"},
  };
}

std::string text_of(simdjson::dom::element error, const char* name) {
  std::string_view text;
  return error[name].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

void expect_error(const Result<http::Reply>& reply, const Mistake& mistake) {
  SCOPED_TRACE(mistake.name);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, mistake.status) << reply->body;
  simdjson::dom::parser parser;
  simdjson::dom::element error;
  const simdjson::padded_string body(reply->body);
  ASSERT_EQ(parser.parse(body)["error"].get(error), simdjson::SUCCESS) << reply->body;
  EXPECT_FALSE(text_of(error, "message").empty());
  EXPECT_FALSE(text_of(error, "type").empty());
  EXPECT_EQ(text_of(error, "param"), mistake.param) << reply->body;
  EXPECT_EQ(text_of(error, "code"), mistake.code) << reply->body;
}

TEST(BadInput, IsAnsweredWithTheFieldAtFault) {
  Cluster cluster(tiny_model());
  cluster.start_router();  // the router finds every mistake of a client without a verifier
  for (const Mistake& mistake : mistakes()) {
    http::Client client = cluster.client();
    expect_error(client.post("/v1/chat/completions", mistake.body), mistake);
  }
}

TEST(BadInput, OnPathsIsAnsweredToo) {
  Cluster cluster(tiny_model());
  cluster.start_router();
  http::Client client = cluster.client();
  expect_error(client.get("/v1/chat/completions"), {"GET where POST belongs", "", 405, "", "method_not_allowed"});
  expect_error(client.get("/v2"), {"an unknown path", "", 404, "", "unknown_path"});
  expect_error(client.get("/v1/models/gpt-5"), {"an unknown model", "", 404, "model", "model_not_found"});
  expect_error(client.get("/ready"), {"too early", "", 503, "", "no_verifier"});
}

// Only the verifier can find this mistake, one token later. Other answers go on.
TEST(BadInput, MasksThatLeaveNoTokenLaterFailThatAnswerAlone) {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  http::Client client = cluster.client();
  const auto reply = client.post("/v1/chat/completions", with(R"("allowed_token_ids": [5], "bad_words": ["bb"])"));
  expect_error(reply, {"only b, and never twice", "", 400, "allowed_token_ids", "no_token_left"});
  const auto other = client.post("/v1/chat/completions", with(R"("max_tokens": 4)"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 200) << other->body;
}

TEST(BadInput, LeavesTheServerAsItWas) {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  for (const Mistake& mistake : mistakes()) {
    http::Client client = cluster.client();
    (void)client.post("/v1/chat/completions", mistake.body);
  }
  http::Client client = cluster.client();
  const auto reply = client.post("/v1/chat/completions", with(R"("max_tokens": 4)"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body;
}

}  // namespace
}  // namespace slipstream::e2e
