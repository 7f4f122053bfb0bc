// POST /v1/messages and /v1/messages/count_tokens.
#include <algorithm>

#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/api_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class Messages : public ApiStage {
 protected:
  static constexpr std::string_view kTools = R"("tools":[{"name":"weather","input_schema":{"type":"object"}}])";
  static constexpr std::string_view kHello = R"("max_tokens":9,"messages":[{"role":"user","content":"hi"}])";

  Messages() : ApiStage("/v1/messages", std::string(kHello)) {}

  static std::vector<std::string> types(const std::vector<json>& events) {
    std::vector<std::string> types;
    for (const json& event : events) types.push_back(event["type"]);
    return types;
  }
  std::string asked(std::string_view messages) { return prompt(fmt::format(R"("max_tokens":9,"messages":[{}])", messages)); }
};

// Subjects that share this stage.
using CountTokens = Messages;

TEST_F(Messages, AreThoseOfAChat) {
  EXPECT_EQ(asked(R"({"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]},
                     {"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d","cache_control":{}}]})"),
            "user: a; assistant: b; user: cd; ");
}

TEST_F(Messages, ComeBehindTheSystemsWords) {
  EXPECT_EQ(prompt(fmt::format(R"({},"system":"Be brief.")", kHello)), "system: Be brief.; user: hi; ");
  EXPECT_EQ(prompt(fmt::format(R"({},"system":[{{"type":"text","text":"Be "}},{{"type":"text","text":"brief."}}])", kHello)),
            "system: Be brief.; user: hi; ");
}

TEST_F(Messages, TellTheModelsCallsAndTheirResults) {
  EXPECT_EQ(asked(R"({"role":"user","content":"hi"},
      {"role":"assistant","content":[{"type":"text","text":"I look."},
        {"type":"tool_use","id":"t1","name":"weather","input":{"city":"Paris"}},
        {"type":"tool_use","id":"t2","name":"weather","input":{"city":"Rome"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"rain"},
        {"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"sun"}]},
        {"type":"text","text":"So?"}]})"),
            "user: hi; assistant: I look.[weather Paris][weather Rome]; tool: rain for t1; tool: sun for t2; user: So?; ");
}

TEST_F(Messages, WarnOfABudgetForThinking) {
  const auto warnings = [this](const char* thinking) {
    auto reply = post(fmt::format(R"({{{},"thinking":{}}})", kHello, thinking), "/v1/messages");
    deliver(inbox.take<Submit>().request, "a<|im_end|>", Finish::stop);
    return json::parse(reply.get().body)["slipstream"].value("warnings", json::array());
  };
  EXPECT_THAT(warnings(R"({"type":"enabled","budget_tokens":1024})").dump(), HasSubstr("`thinking.budget_tokens` is not used"));
  EXPECT_TRUE(warnings(R"({"type":"adaptive"})").empty());
}

// Of an item, a block, a call and its arguments.
TEST_F(Messages, CountAKeyThatComesTwiceTheLastTime) {
  EXPECT_EQ(asked(R"({"role":"assistant","role":"user","content":"x","content":"a"},
      {"role":"assistant","content":[{"type":"image","type":"text","text":"x","text":"b"},
        {"type":"tool_use","id":"t2","id":"t1","name":"x","name":"weather","input":{},"input":{"city":"x","city":"Paris"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"x","tool_use_id":"t1","content":"x","content":"rain"}]})"),
            "user: a; assistant: b[weather Paris]; tool: rain for t1; ");
}

TEST_F(Messages, GoOnWithALastMessageOfTheAssistant) {
  EXPECT_EQ(asked(R"({"role":"user","content":"hi"},{"role":"assistant","content":"Sure, the"})"),
            "user: hi; assistant: Sure, the");
}

TEST_F(Messages, ShowTheModelToolsUnlessItMayNotCallThem) {
  EXPECT_EQ(prompt(fmt::format("{},{}", kHello, kTools)), "weather <tool_call> user: hi; ");
  EXPECT_EQ(prompt(fmt::format(R"({},{},"tool_choice":{{"type":"none"}})", kHello, kTools)), "user: hi; ");
}

TEST_F(Messages, TellTheTemplateWhetherToThink) {
  EXPECT_EQ(prompt(fmt::format(R"({},"thinking":{{"type":"enabled","budget_tokens":1024}})", kHello)),
            "user: hi; thinking True");
  EXPECT_EQ(prompt(fmt::format(R"({},"thinking":{{"type":"disabled"}})", kHello)), "user: hi; thinking False");
  EXPECT_EQ(
      prompt(fmt::format(R"({},"thinking":{{"type":"disabled"}},"chat_template_kwargs":{{"enable_thinking":true}})", kHello)),
      "user: hi; thinking True");
}

TEST_F(Messages, SampleAsTheirFieldsSay) {
  auto reply =
      post(hello(R"("temperature":0.5,"top_p":0.25,"top_k":7,"stop_sequences":["END"],"metadata":{"user_id":"u"})"), path_);
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.output_max, 9);
  EXPECT_EQ(submit.spec.sampling.temperature, 0.5F);
  EXPECT_EQ(submit.spec.sampling.top_p, 0.25F);
  EXPECT_EQ(submit.spec.sampling.top_k, 7);
  deliver(submit.request, "go END on");
  const json message = json::parse(reply.get().body);
  EXPECT_EQ(message["content"][0]["text"], "go ");
  EXPECT_EQ(message["stop_reason"], "stop_sequence");
  EXPECT_EQ(message["stop_sequence"], "END");
  EXPECT_FALSE(message["slipstream"].contains("warnings")) << message;
}

TEST_F(Messages, AreWholeWithTheirUsage) {
  const json message = whole("", "Hello, world!");
  EXPECT_TRUE(message["id"].get<std::string>().starts_with("msg_"));
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["model"], "demo");
  EXPECT_EQ(message["content"], json::parse(R"([{"type":"text","text":"Hello, world!"}])"));
  EXPECT_EQ(message["stop_reason"], "end_turn");
  EXPECT_TRUE(message["stop_sequence"].is_null());
  const auto prompt = static_cast<int>(tokenizer().encode("user: hi; ", true).value().size());
  const int cached = message["usage"]["cache_read_input_tokens"];
  EXPECT_EQ(cached, std::min(32, prompt));
  EXPECT_EQ(message["usage"]["input_tokens"], prompt - cached) << "those that no cache had";
  EXPECT_GT(message["usage"]["output_tokens"], 0);
  EXPECT_EQ(message["slipstream"]["speculation"]["rule"], "greedy");
}

TEST_F(Messages, SayWhenTheLimitCutThem) { EXPECT_EQ(whole("", "Hello", Finish::length)["stop_reason"], "max_tokens"); }

TEST_F(Messages, UseTools) {
  const json message = whole(kTools, fmt::format("I look. {}", kCall));
  EXPECT_EQ(message["stop_reason"], "tool_use");
  ASSERT_EQ(message["content"].size(), 2);
  EXPECT_EQ(message["content"][0]["text"], "I look. ");
  const json& use = message["content"][1];
  EXPECT_EQ(use["type"], "tool_use");
  EXPECT_TRUE(use["id"].get<std::string>().starts_with("toolu_"));
  EXPECT_EQ(use["name"], "weather");
  EXPECT_EQ(use["input"], (json{{"city", "Paris"}}));
}

TEST_F(Messages, GrowTheInputOfAToolAsItIsWritten) {
  const auto events =
      streamed(kTools, {R"(<tool_call>{"name": "weather", "arguments": {"city")", R"(: "Pa)", "ris\"}", "}</tool_call>"});
  EXPECT_THAT(types(events), ElementsAre("message_start", "content_block_start", "content_block_delta", "content_block_delta",
                                         "content_block_delta", "content_block_stop", "message_delta", "message_stop"));
  std::string input;
  for (const int i : {2, 3, 4}) input += events[i]["delta"]["partial_json"];
  EXPECT_EQ(input, R"({"city": "Paris"})");
}

TEST_F(Messages, TellAnInputThatIsNoJson) {
  std::string deep;
  for (int i = 0; i < 2'000; ++i) deep += R"({"a":)";
  for (const std::string& arguments : {std::string(R"({"city": Paris})"), deep + "1" + std::string(2'000, '}')}) {
    const json message =
        whole(kTools, fmt::format(R"(<tool_call>{{"name": "weather", "arguments": {}}}</tool_call>)", arguments));
    EXPECT_EQ(message["content"][0]["input"], (json{{"INVALID_JSON", arguments}}));
  }
}

TEST_F(Messages, UseOneToolIfParallelUseIsDisabled) {
  const json message = whole(fmt::format(R"({},"tool_choice":{{"type":"auto","disable_parallel_tool_use":true}})", kTools),
                             fmt::format("{}{}", kCall, kCall));
  EXPECT_EQ(message["content"].size(), 1);
}

TEST_F(Messages, StreamBlocksAsEvents) {
  const auto events = streamed(kTools, {"I ", "look.", std::string(kCall)});
  EXPECT_THAT(types(events), ElementsAre("message_start", "content_block_start", "content_block_delta", "content_block_delta",
                                         "content_block_stop", "content_block_start", "content_block_delta",
                                         "content_block_stop", "message_delta", "message_stop"));
  EXPECT_EQ(events[0]["message"]["content"], json::array());
  EXPECT_GT(events[0]["message"]["usage"]["input_tokens"].get<int>() +
                events[0]["message"]["usage"]["cache_read_input_tokens"].get<int>(),
            0);
  EXPECT_EQ(events[1]["content_block"], json::parse(R"({"type":"text","text":""})"));
  EXPECT_EQ(events[3]["delta"], json::parse(R"({"type":"text_delta","text":"look."})"));
  EXPECT_EQ(events[5]["index"], 1);
  EXPECT_EQ(events[5]["content_block"]["input"], json::object());
  EXPECT_EQ(json::parse(events[6]["delta"]["partial_json"].get<std::string>()), (json{{"city", "Paris"}}));
  EXPECT_EQ(events[8]["delta"]["stop_reason"], "tool_use");
  EXPECT_GT(events[8]["usage"]["output_tokens"], 0);
}

TEST_F(Messages, PingWhileNothingElseIsSent) {
  WireClient client(server.port());
  const std::string body = hello(R"("stream":true)");
  client.send(
      fmt::format("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                  body.size(), body));
  const auto submit = inbox.take<Submit>();
  api.still_here(submit.request);
  EXPECT_THAT(client.until("event: ping"), HasSubstr("event: message_start"));
  deliver(submit.request, "x<|im_end|>", Finish::stop);
  client.until("event: message_stop");
}

TEST_F(Messages, EndAStreamThatFailsWithAnError) {
  auto stream = this->stream(hello(R"("stream":true)"), path_);
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");
  api.fail({.request = submit.request, .status = 500, .code = "generation_failed", .message = "it broke"});
  const auto last = json::parse(stream.get().events.back());
  EXPECT_EQ(last, json::parse(R"({"type":"error","error":{"type":"api_error","message":"it broke"}})"));
}

TEST_F(Messages, AreRefusedInAnthropicsShape) {
  struct Bad {
    std::string fields, words;
  };
  for (
      const auto& [fields, words] : std::vector<Bad>{
          {R"("messages":[{"role":"user","content":"hi"}])", "`max_tokens` is missing"},
          {R"("max_tokens":9)", "`messages` must be a list of at least one message; it is missing"},
          {R"("max_tokens":9,"messages":[])", "empty"},
          {R"("max_tokens":9,"messages":"x")", "a string"},
          {R"("max_tokens":9,"messages":[7])", "`messages[0]` must be an object"},
          {R"("max_tokens":9,"messages":[{"role":"system","content":"x"}])", "`messages[0].role` must be user or assistant"},
          {R"("max_tokens":9,"messages":[{"role":"user"}])", "`messages[0].content` is missing"},
          {R"("max_tokens":9,"messages":[{"role":"user","content":7}])", "`messages[0].content` must be a string"},
          {R"("max_tokens":9,"messages":[{"role":"user","content":["x"]}])", "`messages[0].content[0]` must be a block"},
          {R"("max_tokens":9,"messages":[{"role":"user","content":[{"text":"x"}]}])",
           "`messages[0].content[0]` must be a block"},
          {R"("max_tokens":9,"messages":[{"role":"user","content":[{"type":"image"}]}])",
           "`messages[0].content[0].type` is \"image\""},
          {R"("max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]}])",
           "`messages[0].content[0].content[0].type` is \"image\""},
          {R"("max_tokens":9,"messages":[{"role":"user","content":[{"type":"text"}]}])",
           "`messages[0].content[0].text` must be"},
          {R"("max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","content":"x"},{"type":"text","text":7}]}])",
           "`messages[0].content[1].text` must be"},
          {R"("max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a b","input":{}}]}])",
           "`messages[0].content[0].name` must be"},
          {R"("max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","name":"f","input":[1]}]}])",
           "`messages[0].content[0].input` must be"},
          {R"("max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"image"}]}])", "text, tool_use or thinking"},
          {std::string(kHello) + R"(,"system":7)", "`system` must be"},
          {std::string(kHello) + R"(,"system":[{"type":"image"}])", "`system[0].type` is"},
          {std::string(kHello) + R"(,"temperature":9)", "`temperature` must be"},
          {std::string(kHello) + R"(,"stop_sequences":7)", "`stop_sequences` must be"},
          {std::string(kHello) + R"(,"stop_sequences":[""])", "`stop_sequences` must not"},
          {std::string(kHello) + R"(,"metadata":7)", "`metadata` must be"},
          {std::string(kHello) + R"(,"thinking":{"type":"x"})", "`thinking.type` must be"},
          {std::string(kHello) + R"(,"tools":{})", "`tools` must be"},
          {std::string(kHello) + R"(,"tools":[7])", "`tools[0]` must be"},
          {std::string(kHello) + R"(,"tools":[{"type":"web_search_20250305"}])", "`tools[0].type` is"},
          {std::string(kHello) + R"(,"tools":[{"name":"a b"}])", "`tools[0].name` must be"},
          {std::string(kHello) + R"(,"tool_choice":"auto")", "`tool_choice` must be an object"},
          {std::string(kHello) + R"(,"tool_choice":{"type":"x"})", "`tool_choice.type` must be"},
          {std::string(kHello) + R"(,"tool_choice":{"type":"any"})", "`tools` is missing"},
          {std::string(kHello) + R"(,"tool_choice":{"type":"tool","name":"f"})", "`tools` is missing"}}) {
    const auto reply = post(fmt::format("{{{}}}", fields), path_).get();
    EXPECT_EQ(reply.status, 400) << fields;
    const json body = json::parse(reply.body);
    EXPECT_EQ(body["type"], "error");
    EXPECT_EQ(body["error"]["type"], "invalid_request_error");
    EXPECT_THAT(body["error"]["message"].get<std::string>(), HasSubstr(words)) << fields;
  }
}

TEST_F(Messages, AreRefusedWithTheTypesThatClientsKnow) {
  const auto type = [](const http::Reply& reply) { return json::parse(reply.body)["error"]["type"].get<std::string>(); };
  EXPECT_EQ(type(post(hello(R"("model":"gpt-4")"), path_).get()), "not_found_error");
  EXPECT_EQ(type(get(path_)), "invalid_request_error") << "405";
  auto reply = post(hello(""), path_);
  api.fail({.request = inbox.take<Submit>().request, .status = 503, .code = "no_verifier", .message = "none"});
  EXPECT_EQ(type(reply.get()), "overloaded_error");
  refusal = {.status = 401, .message = "No API key.", .code = "invalid_api_key"};
  EXPECT_EQ(type(post(hello(""), path_).get()), "authentication_error");
  EXPECT_EQ(json::parse(get("/v1/models").body)["error"]["type"], "invalid_request_error") << "OpenAI's shape elsewhere";
}

TEST_F(CountTokens, CountThePromptThatTheMessageWouldHave) {
  const auto reply =
      post(R"({"messages":[{"role":"user","content":"hi"}],"system":"Be brief."})", path_ + "/count_tokens").get();
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(json::parse(reply.body),
            (json{{"input_tokens", tokenizer().encode("system: Be brief.; user: hi; ", true).value().size()}}));
}

TEST_F(CountTokens, RefuseAsTheMessageWouldBe) {
  const auto reply = post(R"({"messages":[{"role":"user"}]})", path_ + "/count_tokens").get();
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(json::parse(reply.body)["type"], "error");
}

}  // namespace
}  // namespace slipstream
