// POST /v1/responses.
#include <set>

#include "common/base/limits.h"
#include "tests/unit/services/router/http_api/api_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class Responses : public ApiStage {
 protected:
  static constexpr std::string_view kTools =
      R"("tools":[{"type":"function","name":"weather","parameters":{"type":"object"},"strict":true}])";

  Responses() : ApiStage("/v1/responses", R"("input":"hi")") {}

  static std::vector<std::string> types(const std::vector<json>& events) {
    std::vector<std::string> types;
    for (const json& event : events) types.push_back(event["type"].get<std::string>().substr(std::string("response.").size()));
    return types;
  }
  json error(std::string_view fields) {
    const auto reply = post(fmt::format("{{{}}}", fields), path_).get();
    EXPECT_EQ(reply.status, 400) << fields;
    return json::parse(reply.body)["error"];
  }
};

TEST_F(Responses, TakeATextAsAUsersMessage) { EXPECT_EQ(prompt(R"("input":"hi")"), "user: hi; "); }

TEST_F(Responses, PutInstructionsFirst) {
  EXPECT_EQ(prompt(R"("input":"hi","instructions":"Be brief.")"), "system: Be brief.; user: hi; ");
}

TEST_F(Responses, TakeMessagesWithAndWithoutAType) {
  EXPECT_EQ(prompt(R"("input":[{"role":"developer","content":"Rhyme."},
      {"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},
      {"type":"message","id":"msg_1","status":"completed","role":"assistant",
       "content":[{"type":"output_text","text":"c","annotations":[]}]},
      {"role":"user","content":"d"}])"),
            "system: Rhyme.; user: ab; assistant: c; user: d; ");
}

TEST_F(Responses, MakeOneMessageOfWhatTheModelSaidAndCalled) {
  EXPECT_EQ(prompt(R"("input":[{"role":"user","content":"hi"},
      {"type":"reasoning","id":"rs_1","summary":[]},
      {"type":"message","role":"assistant","content":"I look."},
      {"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"city\":\"Paris\"}"},
      {"type":"function_call","call_id":"c2","name":"weather","arguments":"{\"city\":\"Rome\"}"},
      {"type":"function_call_output","call_id":"c1","output":"rain"},
      {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"sun"}]}])"),
            "user: hi; assistant: I look.[weather Paris][weather Rome]; tool: rain for c1; tool: sun for c2; ");
}

TEST_F(Responses, KeepTwoTextsOfTheModelApart) {
  EXPECT_EQ(prompt(R"("input":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}])"),
            "assistant: a; assistant: b; ");
}

TEST_F(Responses, ShowTheModelToolsInTheirFlatForm) {
  EXPECT_EQ(prompt(fmt::format(R"("input":"hi",{})", kTools)), "weather <tool_call> user: hi; ");
  EXPECT_EQ(prompt(fmt::format(R"("input":"hi","tool_choice":"none",{})", kTools)), "user: hi; ");
}

// Of an item, a part, a call, its arguments and a tool.
TEST_F(Responses, CountAKeyThatComesTwiceTheLastTime) {
  EXPECT_EQ(prompt(R"("input":[{"role":"assistant","role":"user",
       "content":"x","content":[{"type":"x","type":"input_text","text":"x","text":"a"}]},
      {"type":"x","type":"function_call","call_id":"x","call_id":"c1","name":"x","name":"weather",
       "arguments":"{}","arguments":"{\"city\":\"x\",\"city\":\"Paris\"}"},
      {"type":"function_call_output","call_id":"x","call_id":"c1","output":"x","output":"rain"}],
      "tools":[{"type":"x","type":"function","name":"x","name":"weather"}])"),
            "weather <tool_call> user: a; assistant: [weather Paris]; tool: rain for c1; ");
}

TEST_F(Responses, SampleAsTheirFieldsSay) {
  auto reply = post(R"({"input":"hi","max_output_tokens":5,"temperature":0.5,"top_p":0.25,"top_k":7,"seed":3})", path_);
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "x", Finish::length);
  EXPECT_EQ(submit.spec.output_max, 5);
  EXPECT_EQ(submit.spec.sampling.temperature, 0.5F);
  EXPECT_EQ(submit.spec.sampling.top_p, 0.25F);
  EXPECT_EQ(submit.spec.sampling.top_k, 7);
  EXPECT_EQ(submit.spec.seed, 3);
  reply.get();
}

TEST_F(Responses, AreWholeWithTheirUsage) {
  const json response = whole(R"("metadata":{"a":"b"},"temperature":0)", "Hello, world!");
  EXPECT_TRUE(response["id"].get<std::string>().starts_with("resp_"));
  EXPECT_EQ(response["object"], "response");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(response["model"], "demo");
  ASSERT_EQ(response["output"].size(), 1);
  const json& message = response["output"][0];
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["status"], "completed");
  EXPECT_EQ(message["content"][0]["type"], "output_text");
  EXPECT_EQ(message["content"][0]["text"], "Hello, world!");
  const json& usage = response["usage"];
  EXPECT_EQ(usage["total_tokens"], usage["input_tokens"].get<int>() + usage["output_tokens"].get<int>());
  EXPECT_EQ(usage["input_tokens_details"]["cached_tokens"], std::min(32, usage["input_tokens"].get<int>()));
  EXPECT_EQ(response["slipstream"]["speculation"]["rule"], "greedy");
  EXPECT_EQ(response["metrics"]["speculative_decoding"]["num_spec_steps"], 2);
}

TEST_F(Responses, RepeatWhatTheyWereAskedFor) {
  const json response =
      whole(fmt::format(R"("metadata":{{"a":"b"}},"instructions":"x","max_output_tokens":9,"temperature":0,"store":false,{})",
                        kTools),
            "Hello");
  EXPECT_EQ(response["metadata"], (json{{"a", "b"}}));
  EXPECT_EQ(response["instructions"], "x");
  EXPECT_EQ(response["max_output_tokens"], 9);
  EXPECT_EQ(response["temperature"], 0.0);
  EXPECT_EQ(response["top_p"], 1.0);
  EXPECT_EQ(response["tool_choice"], "auto");
  EXPECT_EQ(response["parallel_tool_calls"], true);
  EXPECT_EQ(response["tools"][0]["name"], "weather");
  EXPECT_EQ(response["store"], false);
}

TEST_F(Responses, AreIncompleteIfTheLimitCutThem) {
  const json response = whole(R"("max_output_tokens":1)", "Hello", Finish::length);
  EXPECT_EQ(response["status"], "incomplete");
  EXPECT_EQ(response["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(response["output"][0]["status"], "incomplete");
}

TEST_F(Responses, ListTextAndCallsAsTheModelWroteThem) {
  const json output = whole(kTools, fmt::format("I look. {}\n{}", kCall, kCall))["output"];
  ASSERT_EQ(output.size(), 3) << "a line break between calls is no message: " << output;
  EXPECT_EQ(output[0]["content"][0]["text"], "I look. ");
  std::set<std::string> ids;
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(output[i]["type"], "function_call");
    EXPECT_EQ(output[i]["name"], "weather");
    EXPECT_EQ(json::parse(output[i]["arguments"].get<std::string>()), (json{{"city", "Paris"}}));
    ids.insert(output[i]["call_id"]);
    ids.insert(output[i]["id"]);
  }
  EXPECT_EQ(ids.size(), 4);
}

TEST_F(Responses, StreamTextAsEventsThatOpenGrowAndClose) {
  const auto events = streamed(R"("temperature":0)", {"Hello", " you"});
  EXPECT_THAT(types(events),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
                          "output_text.delta", "output_text.done", "content_part.done", "output_item.done", "completed"));
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["sequence_number"], i);
  EXPECT_EQ(events[0]["response"]["status"], "in_progress");
  EXPECT_EQ(events[4]["delta"], "Hello");
  EXPECT_EQ(events[5]["delta"], " you");
  EXPECT_EQ(events[6]["text"], "Hello you");
  EXPECT_EQ(events[8]["item"]["content"][0]["text"], "Hello you");
  for (const int i : {4, 5, 6, 7}) EXPECT_EQ(events[i]["item_id"], events[2]["item"]["id"]);
  EXPECT_EQ(events[9]["response"]["output"][0], events[8]["item"]);
  EXPECT_EQ(events[9]["response"]["id"], events[0]["response"]["id"]);
  EXPECT_GT(events[9]["response"]["usage"]["output_tokens"], 0);
}

TEST_F(Responses, StreamCallsWithTheirArguments) {
  const auto events = streamed(kTools, {"I look.", std::string(kCall)});
  EXPECT_THAT(types(events),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
                          "output_text.done", "content_part.done", "output_item.done", "output_item.added",
                          "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"));
  EXPECT_EQ(events[8]["output_index"], 1);
  EXPECT_EQ(events[8]["item"]["name"], "weather");
  EXPECT_EQ(events[8]["item"]["arguments"], "");
  EXPECT_EQ(events[9]["delta"], events[10]["arguments"]);
  EXPECT_EQ(events[10]["name"], "weather");
  EXPECT_EQ(events[11]["item"]["arguments"], events[10]["arguments"]);
}

TEST_F(Responses, GrowTheArgumentsOfACallAsTheyAreWritten) {
  const auto events = streamed(kTools, {R"(<tool_call>{"name": "weather", "arguments": {"city")", R"(: "Pa)"}, Finish::length);
  EXPECT_THAT(types(events),
              ElementsAre("created", "in_progress", "output_item.added", "function_call_arguments.delta",
                          "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "incomplete"));
  EXPECT_EQ(events[3]["delta"], R"({"city")");
  EXPECT_EQ(events[4]["delta"], R"(: "Pa)");
  EXPECT_EQ(events[5]["arguments"], R"({"city": "Pa)");
  EXPECT_EQ(events[6]["item"]["status"], "incomplete");
  EXPECT_EQ(events[7]["response"]["output"][0], events[6]["item"]);
}

TEST_F(Responses, KeepTheOrderOfTextAndCallsThatComeTogether) {
  const std::string answer = fmt::format("I look. {} Then I {}", kCall, kCall);
  const json whole = this->whole(kTools, answer)["output"];
  const json streamed = this->streamed(kTools, {answer}).back()["response"]["output"];
  std::vector<std::string> types;
  for (const json& item : whole) types.push_back(item["type"]);
  EXPECT_THAT(types, ElementsAre("message", "function_call", "message", "function_call"));
  EXPECT_EQ(whole[2]["content"][0]["text"], " Then I ");
  ASSERT_EQ(streamed.size(), 4);
  EXPECT_EQ(streamed[2]["content"], whole[2]["content"]);
}

TEST_F(Responses, EndAStreamThatTheLimitCutAsIncomplete) {
  const auto events = streamed(R"("max_output_tokens":1)", {"Hello"}, Finish::length);
  EXPECT_EQ(types(events).back(), "incomplete");
  EXPECT_EQ(events.back()["response"]["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(events[events.size() - 2]["item"]["status"], "incomplete");
}

TEST_F(Responses, EndAStreamThatFailsAsFailed) {
  auto stream = this->stream(R"({"input":"hi","stream":true})", path_);
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");
  api.fail({.request = submit.request, .status = 500, .code = "generation_failed", .message = "it broke"});
  const auto last = json::parse(stream.get().events.back());
  EXPECT_EQ(last["type"], "response.failed");
  EXPECT_EQ(last["response"]["status"], "failed");
  EXPECT_EQ(last["response"]["error"]["message"], "it broke");
  EXPECT_EQ(last["response"]["output"][0]["content"][0]["text"], "Hello");
}

TEST_F(Responses, TellTokensWithTheirEnd) {
  const auto events = streamed(R"("slipstream":{"tokens":true})", {"Hello", " you"});
  const json told = events.back()["response"]["slipstream"];
  std::string text;
  for (const auto& piece : told["pieces"]) text += piece.get<std::string>();
  EXPECT_EQ(text, "Hello you");
  EXPECT_EQ(told["token_ids"].size(), events.back()["response"]["usage"]["output_tokens"]);
}

// Pieces that are each one delivery of tokens with logprobs, -0.5 and lower by one for each token.
struct ResponsesWithLogprobs : Responses {
  static constexpr std::string_view kAsk = R"("include":["message.output_text.logprobs"],"top_logprobs":1)";

  void deliver_all(const Submit& submit, const std::vector<std::string>& pieces) {
    EXPECT_EQ(submit.spec.top_logprobs, 1);
    float logprob = -0.5F;
    for (const std::string& piece : pieces) {
      Delivery delivery{.request = submit.request, .finish = &piece == &pieces.back() ? Finish::stop : Finish::none};
      delivery.ids = tokenizer().encode(piece, true).value();
      delivery.drafted.assign(delivery.ids.size(), 0);
      delivery.depths.assign(delivery.ids.size(), 0);
      for (size_t i = 0; i < delivery.ids.size(); ++i, logprob -= 1) {
        delivery.logprobs.push_back({.logprob = logprob, .top = {{kEnd, -0.25F}}});
      }
      api.deliver(delivery);
    }
  }
  // The text that the tokens of these logprobs are.
  static std::string text_of(const json& logprobs) {
    std::string text;
    for (const json& each : logprobs) text += each["token"];
    return text;
  }
};

TEST_F(ResponsesWithLogprobs, HaveThemOfTheTokensThatAreText) {
  auto reply = post(hello(fmt::format("{},{}", kAsk, kTools)), path_);
  deliver_all(inbox.take<Submit>(), {"I look.", std::string(kCall), " And then", "<|im_end|>"});
  const json response = json::parse(reply.get().body);
  EXPECT_EQ(response["top_logprobs"], 1);
  const json& output = response["output"];
  ASSERT_EQ(output.size(), 3) << output;
  for (const int i : {0, 2}) {
    const json& part = output[i]["content"][0];
    EXPECT_EQ(text_of(part["logprobs"]), part["text"]) << part;
  }
  const json& first = output[0]["content"][0]["logprobs"][0];
  EXPECT_EQ(first["logprob"], -0.5);
  EXPECT_EQ(first["bytes"][0], 'I');
  ASSERT_EQ(first["top_logprobs"].size(), 1);
  EXPECT_EQ(first["top_logprobs"][0]["logprob"], -0.25);
  EXPECT_TRUE(first["top_logprobs"][0].contains("bytes"));
}

TEST_F(ResponsesWithLogprobs, StreamThemWithTheirText) {
  auto stream = this->stream(hello(kAsk, R"(,"stream":true)"), path_);
  deliver_all(inbox.take<Submit>(), {"Hello", " you", "<|im_end|>"});
  const auto got = stream.get();
  json all = json::array();
  for (size_t i = 0; i < got.events.size(); ++i) {
    const json event = got[i];
    if (event["type"] == "response.output_text.delta") {
      EXPECT_EQ(text_of(event["logprobs"]), event["delta"]);
      all.insert(all.end(), event["logprobs"].begin(), event["logprobs"].end());
      EXPECT_FALSE(event["logprobs"][0].contains("bytes")) << "events have none";
    }
    if (event["type"] == "response.output_text.done") {
      EXPECT_EQ(event["logprobs"], all);
    }
    if (event["type"] == "response.output_item.done") {
      EXPECT_EQ(text_of(event["item"]["content"][0]["logprobs"]), "Hello you");
    }
  }
  EXPECT_EQ(text_of(all), "Hello you");
}

TEST_F(Responses, HaveNoLogprobsThatNobodyAskedFor) {
  EXPECT_EQ(whole("", "Hello")["output"][0]["content"][0]["logprobs"], json::array());
}

TEST_F(Responses, SayWhatTheyDidNotUse) {
  const auto warnings = whole(R"("store":true,"messages":[],"n":2,"temprature":1,"text":{"verbosity":"low"},
                                 "include":["reasoning.encrypted_content"])",
                              "x")["slipstream"]["warnings"]
                            .dump();
  for (const char* field : {"`store`", "`messages`", "`n`", "`temprature`", "`text.verbosity`", "`include`"}) {
    EXPECT_THAT(warnings, HasSubstr(field));
  }
}

TEST_F(Responses, TakeFieldsThatAskForNothing) {
  whole(R"("previous_response_id":null,"conversation":null,"background":false,"truncation":"disabled","store":false,
           "stream_options":{"include_obfuscation":false},"text":{"format":{"type":"text"}},"tools":[],"tool_choice":"auto",
           "include":[],"parallel_tool_calls":true,"metadata":null)",
        "x");
}

TEST_F(Responses, RefuseWhatIsWrongByItsName) {
  const std::string schema = R"({"type":"json_schema","name":"s","schema":{}})";
  std::string keys = R"("a":1)";
  for (size_t i = 0; i < kJsonKeysMax; ++i) keys += fmt::format(R"(,"a{}":1)", i);
  for (const auto& [fields, param, words] : std::vector<Refused>{
           {R"("model":"demo")", "input", "missing"},
           {R"("input":[])", "input", "empty"},
           {R"("input":7)", "input", "it is 7"},
           {R"("input":["a"])", "input[0]", "a string"},
           {R"("input":[{"type":"item_reference","id":"x"}])", "input[0].type", "item_reference"},
           {R"("input":[{"role":"king","content":"x"}])", "input[0].role", "king"},
           {R"("input":[{"role":"user"}])", "input[0].content", "missing"},
           {R"("input":[{"role":"user","content":[{"type":"input_image"}]}])", "input[0].content[0].type", "input_image"},
           {R"("input":[{"role":"user","content":[{"type":"input_text"}]}])", "input[0].content[0].text", "a string"},
           {R"("input":[{"role":"user","content":"a"},{"type":"function_call","name":"a b"}])", "input[1].name", "letters"},
           {R"("input":[{"type":"function_call","name":"f","arguments":"["}])", "input[0].arguments", "JSON object"},
           {R"("input":[{"type":"function_call_output","call_id":"c"}])", "input[0].output", "missing"},
           {R"("input":[{"type":"function_call_output","call_id":7,"output":"x"}])", "input[0].call_id", "a string"},
           {R"("input":"a","instructions":[])", "instructions", "a string"},
           {R"("input":"a","previous_response_id":"resp_1")", "previous_response_id", "nothing is stored"},
           {R"("input":"a","conversation":"c")", "conversation", "nothing is stored"},
           {R"("input":"a","prompt":{"id":"p"})", "prompt", "nothing is stored"},
           {R"("input":"a","background":true)", "background", "stream it"},
           {R"("input":"a","truncation":"auto")", "truncation", "disabled"},
           {R"("input":"a","max_output_tokens":0)", "max_output_tokens", "`max_output_tokens` must be"},
           {R"("input":"a","max_output_tokens":1,"min_tokens":2)", "min_tokens", "more than `max_output_tokens`"},
           {R"("input":"a","temperature":9)", "temperature", "it is 9"},
           {R"("input":"a","store":1)", "store", "true or false"},
           {R"("input":"a","stream":1)", "stream", "true or false"},
           {R"("input":"a","tools":{})", "tools", "a list"},
           {R"("input":"a","tools":[7])", "tools[0]", "an object"},
           {R"("input":"a","tools":[{"type":"web_search"}])", "tools[0].type", "function"},
           {R"("input":"a","tools":[{"type":"function"}])", "tools[0].name", "letters"},
           {R"("input":"a","tool_choice":"required")", "tool_choice", "`tools` is missing"},
           {R"("input":"a","tool_choice":{"type":"function","name":"f"})", "tool_choice", "`tools` is missing"},
           {R"("input":"a","text":{"format":)" + schema + "}", "text.format", "`text.format`"},
           {R"("input":"a","text":"x")", "text", "an object"},
           {R"("input":"a","text":{)" + keys + "}", "text", "keys"},
           {R"("input":"a","metadata":{)" + keys + "}", "metadata", "16"},
           {R"("input":"a","include":["file_search_call.results"])", "include", "ignored"},
           {R"("input":"a","include":{})", "include", "a list"},
           {R"("input":"a","top_logprobs":2)", "top_logprobs", "message.output_text.logprobs"},
           {fmt::format(R"("input":"{}")", std::string(100'000, 'x')), "input", "maximum context length"}}) {
    const json told = error(fields);
    EXPECT_EQ(told["param"], param) << told;
    EXPECT_THAT(told["message"].get<std::string>(), HasSubstr(words));
  }
}

TEST_F(Responses, TellWhereTheBodyIsNotJson) {
  const auto reply = post("{", path_).get();
  EXPECT_EQ(json::parse(reply.body)["error"]["code"], "invalid_json");
}

TEST_F(Responses, NameTheirOwnFieldWhenAVerifierRefuses) {
  auto reply = post(R"({"input":"hi"})", path_);
  api.fail({.request = inbox.take<Submit>().request,
            .status = 400,
            .code = "context_length_exceeded",
            .message = "Your `messages` are too long.",
            .param = "messages"});
  const json told = json::parse(reply.get().body)["error"];
  EXPECT_EQ(told["param"], "input");
  EXPECT_EQ(told["message"], "Your `input` are too long.");
}

}  // namespace
}  // namespace slipstream
