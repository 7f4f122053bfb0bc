// Calls of tools: in what a model writes, and in requests and answers.
#include "services/router/http_api/tool_calls.h"

#include <set>

#include "common/base/limits.h"
#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

// All that a reader makes of a text which comes in pieces of this many bytes.
ToolCallReader::Piece read(ToolFormat format, std::string_view text, size_t bytes) {
  ToolCallReader reader(format);
  ToolCallReader::Piece all;
  const auto add = [&](ToolCallReader::Piece piece) {
    for (ToolCall& part : piece.calls) {
      part.text_before += all.text.size();
      add_part(all.calls, std::move(part));
    }
    all.text += piece.text;
  };
  for (size_t at = 0; at < text.size(); at += bytes) add(reader.push(text.substr(at, bytes)));
  add(reader.flush());
  return all;
}

struct Written {
  ToolFormat format;
  std::string text;  // by the model
  std::string left;  // as content
  std::vector<ToolCall> calls;
};

class WhatAModelWrites : public testing::TestWithParam<Written> {};

TEST_P(WhatAModelWrites, IsReadTheSameInPiecesOfAnySize) {
  const Written& written = GetParam();
  for (const size_t bytes : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, written.text.size() + 1}) {
    const auto piece = read(written.format, written.text, bytes);
    EXPECT_EQ(piece.text, written.left) << bytes;
    EXPECT_EQ(piece.calls, written.calls) << bytes;
  }
}

const ToolCall kWeather{.name = "weather", .arguments = R"({"city":"Paris"})"}, kTime{.name = "time", .arguments = "{}"};

ToolCall call(std::string name, std::string arguments) { return {.name = std::move(name), .arguments = std::move(arguments)}; }
ToolCall cut(ToolCall call) {
  call.ends = false;
  return call;
}
ToolCall behind(size_t text, ToolCall call) {
  call.text_before = text;
  return call;
}

INSTANTIATE_TEST_SUITE_P(
    Tools, WhatAModelWrites,
    testing::Values(
        Written{ToolFormat::none, "a <tool_call>{}</tool_call>", "a <tool_call>{}</tool_call>", {}},
        Written{ToolFormat::hermes, "no call here", "no call here", {}},
        Written{ToolFormat::hermes, "1 < 2 and <tool", "1 < 2 and <tool", {}},
        Written{ToolFormat::hermes,
                "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\", \"days\":[1, 2]}}\n</tool_call>",
                "",
                {call("weather", "{\"city\": \"Paris\", \"days\":[1, 2]}")}},
        Written{ToolFormat::hermes,
                "I look. <tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"Paris\"}}</tool_call>"
                "<tool_call>{\"name\":\"time\",\"arguments\":{}}</tool_call> So.",
                "I look.  So.",
                {behind(8, kWeather), behind(8, kTime)}},
        Written{ToolFormat::hermes,
                "<tool_call>{\"name\":\"time\",\"arguments\":{}}</tool_call>\n<tool_call>\n"
                "{\"name\":\"time\",\"arguments\":{}}\n</tool_call> \n",
                "",
                {kTime, kTime}},
        Written{ToolFormat::hermes,
                "a<tool_call>{\"name\":\"time\",\"arguments\":{}}</tool_call>b<tool_call>{\"name\":\"time\",\"arguments\":{}}",
                "ab",
                {behind(1, kTime), behind(2, kTime)}},
        Written{ToolFormat::hermes, "<tool_call>{\"name\":\"time\",\"arguments\":{}}", "", {kTime}},
        Written{ToolFormat::hermes, "<tool_call>{\"name\":\"time\",\"arguments\":{}}}\n</tool_call>!", "}!", {kTime}},
        Written{ToolFormat::hermes, "<tool_call>{\"name\":\"time\",\"arguments\":{}}\n<tool_call>{}", "<tool_call>{}", {kTime}},
        Written{ToolFormat::hermes, "<tool_call>{\"name\":\"ti", "<tool_call>{\"name\":\"ti", {}},
        Written{ToolFormat::hermes, "<tool_call>nonsense</tool_call>!", "<tool_call>nonsense</tool_call>!", {}},
        Written{ToolFormat::hermes,
                "<tool_call>{\"name\":\"say\",\"arguments\":{\"text\":\"<b> </tool\"}}</tool_call>",
                "",
                {call("say", "{\"text\":\"<b> </tool\"}")}},
        Written{ToolFormat::hermes,
                "<tool_call>{\"name\":\"say\",\"arguments\":{\"a\": tru</tool_call>!",
                "!",
                {call("say", "{\"a\": tru")}},
        Written{
            ToolFormat::hermes, "<tool_call>{\"name\":\"say\",\"arguments\":{\"a\": <", "", {cut(call("say", "{\"a\": <"))}},
        Written{ToolFormat::llama3_json, "{\"name\": \"weather\", \"parameters\": {\"city\":\"Paris\"}}", "", {kWeather}},
        Written{ToolFormat::llama3_json,
                " {\"name\":\"weather\",\"parameters\":{\"city\":\"Paris\"}}; {\"name\":\"time\",\"parameters\":{}}\n",
                "",
                {kWeather, kTime}},
        Written{ToolFormat::llama3_json,
                "{\"name\":\"say\",\"parameters\":{\"text\":\"a; b\"}}",
                "",
                {call("say", R"({"text":"a; b"})")}},
        Written{ToolFormat::llama3_json, "{\"answer\": 4}", "{\"answer\": 4}", {}},
        Written{ToolFormat::llama3_json, " {\"name\": \"Ann\", \"age\": 4}", " {\"name\": \"Ann\", \"age\": 4}", {}},
        Written{ToolFormat::llama3_json, "The answer: {}", "The answer: {}", {}},
        Written{ToolFormat::llama3_json, "  ", "  ", {}},
        Written{ToolFormat::llama3_json, "{\"name\":\"time\",\"parameters\":{}}; and {}", "; and {}", {kTime}},
        Written{ToolFormat::llama3_json, "{\"name\":\"time\",\"parameters\":{}};{\"name\":4}", ";{\"name\":4}", {kTime}},
        Written{
            ToolFormat::pythonic, "[weather(city='Paris'), time()]\n", "", {call("weather", "{\"city\": \"Paris\"}"), kTime}},
        Written{ToolFormat::pythonic, " [time()", "", {kTime}},
        Written{ToolFormat::pythonic, "[time()] then", " then", {kTime}},
        Written{ToolFormat::pythonic, "[time(zone=\"U", "", {cut(call("time", "{\"zone\": \"U"))}},
        Written{ToolFormat::pythonic, "[1, 2]", "[1, 2]", {}}, Written{ToolFormat::pythonic, "[weather]", "[weather]", {}},
        Written{ToolFormat::pythonic, "[weather](Paris)", "[weather](Paris)", {}},
        Written{ToolFormat::pythonic, "[weather(Paris)]", "[weather(Paris)]", {}},
        Written{ToolFormat::pythonic, "time()", "time()", {}}));

TEST(ToolCallReader, GivesArgumentsAsTheyAreWritten) {
  const ToolCall part{.name = {}, .arguments = {}, .begins = false, .ends = false};
  const auto of = [&](std::string_view arguments, bool ends) {
    ToolCall more = part;
    more.arguments = arguments;
    more.ends = ends;
    return more;
  };
  ToolCallReader hermes(ToolFormat::hermes);
  EXPECT_THAT(hermes.push("<tool_call>{\"name\": \"weather\", \"arguments\":").calls, ElementsAre());
  EXPECT_THAT(hermes.push(" {\"ci").calls, ElementsAre(cut(call("weather", "{\"ci"))));
  EXPECT_THAT(hermes.push("ty\": \"Pa").calls, ElementsAre(of("ty\": \"Pa", false)));
  EXPECT_THAT(hermes.push("ris\"").calls, ElementsAre(of("ris\"", false)));
  EXPECT_THAT(hermes.push("}").calls, ElementsAre(of("}", true)));
  EXPECT_THAT(hermes.push("}\n</tool_call>").calls, ElementsAre());
  EXPECT_THAT(hermes.flush().calls, ElementsAre());

  ToolCallReader python(ToolFormat::pythonic);
  EXPECT_THAT(python.push("[weather(").calls, ElementsAre());
  EXPECT_THAT(python.push("city='Pa").calls, ElementsAre(cut(call("weather", "{\"city\": \"Pa"))));
  EXPECT_THAT(python.push("ris'), t").calls, ElementsAre(of("ris\"}", true)));
  EXPECT_THAT(python.push("ime()]").calls, ElementsAre(kTime));
}

TEST(ToolCallReader, HoldsNoMoreThanItsLimit) {
  const std::string spaces(1 << 20, ' ');
  ToolCallReader llama(ToolFormat::llama3_json), hermes(ToolFormat::hermes), python(ToolFormat::pythonic);
  EXPECT_EQ(llama.push(spaces).text, spaces);
  EXPECT_EQ(llama.push("{}").text, "{}") << "it gave up";
  EXPECT_EQ(hermes.push("<tool_call>" + spaces).text, "<tool_call>" + spaces);
  EXPECT_EQ(python.push("[time(" + spaces).text, "[time(" + spaces);
}

TEST(ToolFormat, IsTheOneThatTheTemplateTeaches) {
  EXPECT_EQ(tool_format_of("... <tool_call>\\n{...}"), ToolFormat::hermes);
  EXPECT_EQ(tool_format_of(R"([func_name1(params_name1=params_value1), func_name2(params)] {"parameters": {}})"),
            ToolFormat::pythonic);
  EXPECT_EQ(tool_format_of(R"({"name": function name, "parameters": dictionary})"), ToolFormat::llama3_json);
  EXPECT_EQ(tool_format_of("{{ messages }}"), ToolFormat::none);
}

// A front whose template shows tools as Qwen's does.
class ToolsOfAChat : public HttpApiTest {
 protected:
  static constexpr std::string_view kTemplate =
      "{%- if tools %}{% for tool in tools %}{{ tool.function.name }} {% endfor %}<tool_call> {% endif %}"
      "{%- for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}"
      "{%- for call in m.tool_calls or [] %}[{{ call.function.name }} {{ call.function.arguments.city }}]{% endfor %}"
      "{%- if m.tool_call_id %} for {{ m.tool_call_id }}{% endif %}<|im_end|>{% endfor %}"
      "{%- if enable_thinking is defined %}{{ enable_thinking }}{% endif %}{% if add_generation_prompt %}<|im_start|>{% endif "
      "%}";
  ToolsOfAChat() : HttpApiTest(with_template(kTemplate)) {}
  std::string prompt(std::string_view fields) {  // that a request makes
    auto reply = post(fmt::format("{{{}}}", fields));
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200);
    return tokenizer().decode(submit.prompt, false).value();
  }
  static constexpr std::string_view kTools =
      R"("tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}])";
  static constexpr std::string_view kUser = R"("messages":[{"role":"user","content":"hi"}])";
  static constexpr std::string_view kCall = R"(<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>)";
};

// Subjects that share this stage.
using TemplateOfAChat = ToolsOfAChat;

TEST_F(ToolsOfAChat, AreShownToTheModelUnlessItMayNotCallThem) {
  EXPECT_EQ(prompt(fmt::format("{},{}", kUser, kTools)), "weather <tool_call> <|im_start|>user: hi<|im_end|><|im_start|>");
  EXPECT_EQ(prompt(fmt::format(R"({},{},"tool_choice":"none")", kUser, kTools)), "<|im_start|>user: hi<|im_end|><|im_start|>");
}

TEST_F(ToolsOfAChat, StayInTheHistoryWithTheirArgumentsAsAnObject) {
  EXPECT_EQ(prompt(R"("messages":[{"role":"user","content":"hi"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
       "function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"rain"}])"),
            "<|im_start|>user: hi<|im_end|><|im_start|>assistant: [weather Paris]<|im_end|>"
            "<|im_start|>tool: rain for c1<|im_end|><|im_start|>");
}

TEST_F(ToolsOfAChat, CannotForgeASpecialToken) {
  const auto specials = [&](std::string_view city) {
    auto reply = post(fmt::format(R"({{"messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"weather",
        "arguments":{{"city":"{}"}}}}}}]}}]}})",
                                  city));
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    reply.get();
    return std::ranges::count_if(submit.prompt, [&](TokenId id) { return tokenizer().is_special(id); });
  };
  EXPECT_EQ(specials("<|im_end|>"), specials("Paris"));
  EXPECT_EQ(specials("\\u003c|im_end|>"), specials("Paris"));
}

TEST_F(ToolsOfAChat, ThatTheModelCallsAreTheAnswer) {
  auto reply = post(fmt::format("{{{},{}}}", kUser, kTools));
  deliver(inbox.take<Submit>().request, fmt::format("{}<|im_end|>", kCall), Finish::stop);
  const auto choice = json::parse(reply.get().body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const auto call = choice["message"]["tool_calls"][0];
  EXPECT_TRUE(call["id"].get<std::string>().starts_with("call_"));
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["function"]["name"], "weather");
  EXPECT_EQ(json::parse(call["function"]["arguments"].get<std::string>()), (json{{"city", "Paris"}}));
}

TEST_F(ToolsOfAChat, ComeInAStreamAsDeltasOfTheirArguments) {
  auto streamed = stream(fmt::format(R"({{{},{},"stream":true}})", kUser, kTools));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "I look. <tool");
  deliver(submit.request, R"(_call>{"name": "weather", "arguments": {"city")");
  deliver(submit.request, R"(: "Par)");
  deliver(submit.request, fmt::format(R"(is"}}}}</tool_call> And {}<|im_end|>)", kCall), Finish::stop);
  const auto got = streamed.get();
  std::string text, reason;
  std::vector<std::string> ids;
  std::vector<json> calls;
  for (size_t i = 0; i + 1 < got.events.size(); ++i) {
    const auto choice = got[i]["choices"][0];
    text += choice["delta"].value("content", "");
    if (!choice["finish_reason"].is_null()) reason = choice["finish_reason"];
    for (auto call : choice["delta"].value("tool_calls", json::array())) {
      if (call.contains("id")) ids.push_back(call["id"]);
      call.erase("id");
      calls.push_back(call);
    }
  }
  const auto begin = [](int index) {
    return json{{"index", index}, {"type", "function"}, {"function", {{"name", "weather"}, {"arguments", ""}}}};
  };
  const auto grow = [](int index, std::string_view arguments) {
    return json{{"index", index}, {"function", {{"arguments", arguments}}}};
  };
  EXPECT_THAT(calls, ElementsAre(begin(0), grow(0, R"({"city")"), grow(0, R"(: "Par)"), grow(0, R"(is"})"), begin(1),
                                 grow(1, R"({"city": "Paris"})")));
  EXPECT_EQ(text, "I look.  And ");
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 2) << "each call has an id of its own, told once";
  EXPECT_EQ(ids.size(), 2);
  EXPECT_EQ(reason, "tool_calls");
}

TEST_F(ToolsOfAChat, AreCutWithTheAnswer) {
  auto reply = post(fmt::format("{{{},{}}}", kUser, kTools));
  deliver(inbox.take<Submit>().request, R"(<tool_call>{"name": "weather", "arguments": {"city": "Pa)", Finish::length);
  const auto choice = json::parse(reply.get().body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["arguments"], R"({"city": "Pa)");
}

TEST_F(ToolsOfAChat, ComeOnceInAStreamIfTheyMayNotBeCalledInParallel) {
  auto streamed = stream(fmt::format(R"({{{},{},"stream":true,"parallel_tool_calls":false}})", kUser, kTools));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, fmt::format("{}{}", kCall, kCall.substr(0, kCall.size() - 20)));
  deliver(submit.request, fmt::format("{}{}<|im_end|>", kCall.substr(kCall.size() - 20), kCall), Finish::stop);
  const auto got = streamed.get();
  std::string arguments;
  for (size_t i = 0; i + 1 < got.events.size(); ++i) {
    for (const auto& call : got[i]["choices"][0]["delta"].value("tool_calls", json::array())) {
      EXPECT_EQ(call["index"], 0);
      arguments += call["function"]["arguments"];
    }
  }
  EXPECT_EQ(arguments, R"({"city": "Paris"})");
}

TEST_F(ToolsOfAChat, AreHeldWithCommentsInBetween) {
  WireClient client(server.port());
  const std::string body = fmt::format(R"({{{},{},"stream":true}})", kUser, kTools);
  client.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, body.size(), body));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "<tool_call>");
  for (int i = 0; i < 64; ++i) deliver(submit.request, " ");
  EXPECT_THAT(client.until("\n: "), HasSubstr("\"role\":\"assistant\""));
  deliver(submit.request, "<|im_end|>", Finish::stop);
  client.until("[DONE]");
}

TEST_F(ToolsOfAChat, AreCalledOnceIfTheyMayNotBeCalledInParallel) {
  auto reply = post(fmt::format(R"({{{},{},"parallel_tool_calls":false}})", kUser, kTools));
  deliver(inbox.take<Submit>().request, fmt::format("{}{}<|im_end|>", kCall, kCall), Finish::stop);
  EXPECT_EQ(json::parse(reply.get().body)["choices"][0]["message"]["tool_calls"].size(), 1);
}

TEST_F(ToolsOfAChat, AreTextIfTheRequestHasNone) {
  auto reply = post(fmt::format("{{{}}}", kUser));
  deliver(inbox.take<Submit>().request, fmt::format("{}<|im_end|>", kCall), Finish::stop);
  EXPECT_EQ(json::parse(reply.get().body)["choices"][0]["message"]["content"], kCall);
}

TEST_F(ToolsOfAChat, AreRefusedWithWordsWhereTheyCannotBe) {
  for (const auto& [fields, param] :
       {std::pair(R"("tools":{})", "tools"), std::pair(R"("tools":[{"type":"retrieval"}])", "tools[0].type"),
        std::pair(R"("tools":[{"type":"function"}])", "tools[0].function"),
        std::pair(R"("tools":[{"type":"function","function":{"name":"a b"}}])", "tools[0].function.name"),
        std::pair(R"("tool_choice":"required")", "tool_choice"),
        std::pair(R"("tool_choice":{"type":"function"})", "tool_choice"),
        std::pair(R"("continue_final_message":true,"add_generation_prompt":true)", "continue_final_message")}) {
    const auto reply = post(fmt::format("{{{},{}}}", kUser, fields)).get();
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_EQ(json::parse(reply.body)["error"]["param"], param) << reply.body;
  }
  std::string many = R"("a":1)";
  for (size_t i = 0; i < kJsonKeysMax; ++i) many += fmt::format(R"(,"a{}":1)", i);
  for (const auto& [field, form] : {std::pair("chat_template_kwargs", R"("chat_template_kwargs":{{{}}})"),
                                    std::pair("tools", R"("tools":[{{"function":{{"name":"f","parameters":{{{}}}}}}}])")}) {
    const auto refused = post(fmt::format("{{{},{}}}", kUser, fmt::format(fmt::runtime(form), many))).get();
    EXPECT_EQ(refused.status, 400) << field;
    EXPECT_EQ(json::parse(refused.body)["error"]["param"], field) << refused.body;
  }
  const auto reply =
      post(R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]}]})").get();
  EXPECT_EQ(json::parse(reply.body)["error"]["param"], "messages[0].tool_calls[0].function.arguments");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({\"a\":)";
  const auto too_deep = post(fmt::format(R"({{"messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"f",
      "arguments":"{}1{}"}}}}]}}]}})",
                                         deep, std::string(100'000, '}')))
                            .get();
  EXPECT_EQ(too_deep.status, 400);
  EXPECT_THAT(json::parse(too_deep.body)["error"]["message"].get<std::string>(), HasSubstr("levels"));
}

TEST_F(TemplateOfAChat, GetsItsOwnVariables) {
  EXPECT_EQ(prompt(fmt::format(R"({},"chat_template_kwargs":{{"enable_thinking":false}})", kUser)),
            "<|im_start|>user: hi<|im_end|>False<|im_start|>");
}

TEST_F(TemplateOfAChat, EndsInsideAMessageThatGoesOn) {
  EXPECT_EQ(prompt(R"("messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Sure, the "}],
                      "continue_final_message":true)"),
            "<|im_start|>user: hi<|im_end|><|im_start|>assistant: Sure, the");
  EXPECT_EQ(prompt(R"("messages":[{"role":"assistant","content":"end"}],"continue_final_message":true)"),
            "<|im_start|>assistant: end")
      << "not the end of <|im_end|>";
}

TEST_F(TemplateOfAChat, IsTokenizedAsTheChatWouldBe) {
  const std::string answered = R"("messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Sure"}])";
  for (const std::string& fields :
       {std::string(kUser), fmt::format("{},{}", kUser, kTools), fmt::format(R"({},{},"tool_choice":"none")", kUser, kTools),
        fmt::format(R"({},"chat_template_kwargs":{{"enable_thinking":false}})", kUser),
        answered + R"(,"add_generation_prompt":false)", answered + R"(,"continue_final_message":true)"}) {
    const auto ids =
        json::parse(post(fmt::format("{{{}}}", fields), "/tokenize").get().body)["tokens"].get<std::vector<TokenId>>();
    EXPECT_EQ(tokenizer().decode(ids, false).value(), prompt(fields)) << fields;
  }
  auto refused = post(fmt::format(R"({{{},"continue_final_message":true,"add_generation_prompt":true}})", kUser), "/tokenize");
  EXPECT_EQ(json::parse(refused.get().body)["error"]["param"], "continue_final_message");
}

TEST_F(HttpApiTest, RefusesToolsThatTheTemplateHasNoPlaceFor) {
  const auto reply = post(ask(R"("tools":[{"type":"function","function":{"name":"f"}}])")).get();
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(json::parse(reply.body)["error"]["message"].get<std::string>(), HasSubstr("no place for tools"));
}

}  // namespace
}  // namespace slipstream
