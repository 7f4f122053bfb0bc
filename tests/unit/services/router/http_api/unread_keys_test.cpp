// Keys inside the fields of a request that nobody uses, on each API.
#include "services/router/http_api/unread_keys.h"

#include "tests/unit/services/router/http_api/api_stage.h"

namespace slipstream {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class UnreadKeysTest : public ApiStage {
 protected:
  UnreadKeysTest() : ApiStage("", "") {}

  // The fields that the answer's warnings name.
  std::vector<std::string> ignored(std::string body, std::string path) {
    auto reply = post(std::move(body), std::move(path));
    deliver(inbox.take<Submit>().request, "x<|im_end|>", Finish::stop);
    return named(reply.get());
  }
  static std::vector<std::string> named(const http::Reply& reply) {
    EXPECT_EQ(reply.status, 200) << reply.body;
    std::vector<std::string> fields;
    const json answer = json::parse(reply.body);
    if (!answer.contains("slipstream")) return fields;
    for (const std::string words : answer["slipstream"].value("warnings", json::array())) {
      fields.push_back(words.substr(1, words.find('`', 1) - 1));
    }
    return fields;
  }
};

TEST_F(UnreadKeysTest, OfAChatAreNamedEachOnce) {
  EXPECT_THAT(ignored(R"({"messages":[{"role":"user","name":"ann","content":[{"type":"text","text":"a","lang":"en",
      "cache_control":{"type":"ephemeral"}}]},{"role":"user","name":"ben","content":[{"type":"text","text":"b","lang":"de"}]}]})",
                      "/v1/chat/completions"),
              UnorderedElementsAre("messages[0].name", "messages[0].content[0].lang"));
}

TEST_F(UnreadKeysTest, OfAnAnswerThatIsSentBackAreNoneIfTheySayNothing) {
  EXPECT_THAT(ignored(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"c","refusal":null,
      "annotations":[{"type":"url_citation"}],"function_call":null,"tool_calls":[],"audio":{}},{"role":"user","content":"d"}]})",
                      "/v1/chat/completions"),
              IsEmpty());
}

TEST_F(UnreadKeysTest, OfTheOptionsOfAStreamAreNamed) {
  auto stream = this->stream(R"({"messages":[{"role":"user","content":"a"}],"stream":true,
      "stream_options":{"include_usage":true,"include_obfuscation":false,"usage":1}})");
  deliver(inbox.take<Submit>().request, "x<|im_end|>", Finish::stop);
  std::string all;
  for (const std::string& event : stream.get().events) all += event;
  EXPECT_THAT(all, HasSubstr("`stream_options.usage` is not used"));
  EXPECT_THAT(all, testing::Not(HasSubstr("obfuscation")));
}

TEST_F(UnreadKeysTest, OfAResponseAreNamed) {
  EXPECT_THAT(ignored(R"({"input":[{"type":"message","role":"user","id":"m1","phase":"x","content":[{"type":"input_text",
      "text":"a","lang":"en"}]},{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text",
      "text":"b","annotations":[{"type":"x"}],"logprobs":[]}]},{"role":"user","content":"c"}],
      "text":{"format":{"type":"text","depth":1},"tone":"dry"},
      "reasoning":{"effort":"none","pace":1},"stream_options":{"include_obfuscation":true,"usage":1},"stream":false})",
                      "/v1/responses"),
              UnorderedElementsAre("input[0].phase", "input[0].content[0].lang", "text.format.depth", "text.tone",
                                   "reasoning.pace", "stream_options.usage"));
}

TEST_F(UnreadKeysTest, OfAMessageAreNamed) {
  EXPECT_THAT(ignored(R"({"max_tokens":9,"thinking":{"type":"disabled","budget_tokens":5,"display":"x"},
      "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],
      "messages":[{"role":"user","content":"hi","name":"ann"},{"role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"x"},{"type":"tool_use","id":"t1","name":"weather","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"rain","is_error":true},
        {"type":"text","text":"So?","lang":"en"}]}]})",
                      "/v1/messages"),
              UnorderedElementsAre("messages[0].name", "messages[2].content[0].is_error", "messages[2].content[1].lang",
                                   "thinking.display"));
}

TEST_F(UnreadKeysTest, OfTextsToTokenizeAreNamed) {
  const auto ignored = [this](std::string body, std::string path) {
    return named(post(std::move(body), std::move(path)).get());
  };
  EXPECT_THAT(ignored(R"({"model":"demo","prompt":"a","return_tokens":true})", "/tokenize"),
              UnorderedElementsAre("return_tokens"));
  EXPECT_THAT(ignored(R"({"messages":[{"role":"user","content":"a","name":"ann"}]})", "/tokenize"),
              UnorderedElementsAre("messages[0].name"));
  EXPECT_THAT(
      ignored(R"({"messages":[{"role":"user","content":"a"}],"tools":[{"function":{"name":"a","pace":1}}]})", "/tokenize"),
      UnorderedElementsAre("tools[0].function.pace"));
  EXPECT_THAT(ignored(R"({"tokens":[5],"skip":true})", "/detokenize"), UnorderedElementsAre("skip"));
  EXPECT_THAT(ignored(R"({"model":"demo","prompt":"a","add_special_tokens":true})", "/tokenize"), IsEmpty());
  EXPECT_THAT(ignored(R"({"model":"demo","tokens":[5]})", "/detokenize"), IsEmpty());
  EXPECT_THAT(post("{}", "/tokenize").get().body, HasSubstr("`prompt` is missing: send a text as `prompt`, or a chat"));
}

TEST_F(UnreadKeysTest, OfToolsAreNamed) {
  EXPECT_THAT(ignored(R"({"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","lazy":true,"function":
      {"name":"a","description":"d","strict":true,"parameters":{"type":"object","odd":1},"pace":1}},{"type":"function",
      "function":{"name":"b","pace":2}}],"tool_choice":"auto"})",
                      "/v1/chat/completions"),
              UnorderedElementsAre("tools[0].lazy", "tools[0].function.pace"));
  EXPECT_THAT(ignored(R"({"input":"a","tools":[{"type":"function","name":"a","description":"d","strict":true,"pace":1}]})",
                      "/v1/responses"),
              UnorderedElementsAre("tools[0].pace"));
  EXPECT_THAT(ignored(R"({"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tool_choice":{"type":"auto","x":1},
      "tools":[{"name":"a","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"},"pace":1}]})",
                      "/v1/messages"),
              UnorderedElementsAre("tools[0].pace", "tool_choice.x"));
}

TEST_F(UnreadKeysTest, OfACountOfTokensAreNamed) {
  auto counted = post(R"({"messages":[{"role":"user","content":"hi","name":"ann"}],"tools":[{"name":"a","pace":1,
      "input_schema":{"type":"object"}}],"speed":"fast"})",
                      "/v1/messages/count_tokens");
  const http::Reply reply = counted.get();
  EXPECT_GT(json::parse(reply.body)["input_tokens"], 0);
  EXPECT_THAT(named(reply), UnorderedElementsAre("messages[0].name", "tools[0].pace", "speed"));
  EXPECT_EQ(
      json::parse(post(R"({"messages":[{"role":"user","content":"hi"}]})", "/v1/messages/count_tokens").get().body).size(), 1);
}

struct UnreadKeysOfAStrictServer : HttpApiTest {
  UnreadKeysOfAStrictServer() : HttpApiTest(strict()) {}
  static ServedModel strict() {
    ServedModel served = model();
    served.offer.strict = true;
    return served;
  }
};

TEST_F(UnreadKeysOfAStrictServer, AreRefused) {
  for (const auto& [body, path, param] :
       {std::tuple(R"({"messages":[{"role":"user","content":"a","name":"ann"}]})", "/v1/chat/completions", "messages[0].name"),
        std::tuple(R"({"input":"a","text":{"format":{"type":"text","depth":1}}})", "/v1/responses", "text.format.depth"),
        std::tuple(R"({"prompt":"a","return_tokens":true})", "/tokenize", "return_tokens")}) {
    const http::Reply reply = post(body, path).get();
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(json::parse(reply.body)["error"]["param"], param);
  }
  const http::Reply counted =
      post(R"({"messages":[{"role":"user","content":"a","name":"ann"}]})", "/v1/messages/count_tokens").get();
  EXPECT_EQ(counted.status, 400);
  EXPECT_THAT(counted.body, HasSubstr("Unknown parameter: `messages[0].name`"));
}

}  // namespace
}  // namespace slipstream
