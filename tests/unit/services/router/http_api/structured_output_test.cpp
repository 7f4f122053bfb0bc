// Requests that say what form their answer must have.
#include "tests/data/grammars.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::Contains;

constexpr std::string_view kTools = R"("tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object",
    "properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}}},
    {"type":"function","function":{"name":"time"}}])";

class StructuredOutput : public HttpApiTest {
 protected:
  explicit StructuredOutput(std::string_view jinja = "") : HttpApiTest(with_grammars(jinja)) {}

  static ServedModel with_grammars(std::string_view jinja) {
    ServedModel served = model();
    served.vocabulary = small_vocabulary();
    served.grammars = small_grammars();
    if (!jinja.empty()) served.chat_template = *ChatTemplate::parse(jinja, "", "a test");
    return served;
  }
  GrammarText grammar(std::string_view fields) {  // that a verifier is sent
    auto reply = post(ask(fields));
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200) << fields;
    return submit.spec.grammar;
  }
  json refusal_of(std::string_view fields) {
    const auto reply = post(ask(fields)).get();
    EXPECT_EQ(reply.status, 400) << fields;
    return json::parse(reply.body)["error"];
  }
};

GrammarText schema(std::string_view text) { return {GrammarForm::json_schema, std::string(text)}; }

TEST_F(StructuredOutput, IsAskedForAsEachApiAsksForIt) {
  const GrammarText integer = schema(R"({"type":"integer"})"), object = schema(R"({"type":"object"})");
  for (const std::string_view fields : {
           R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"integer"}}})",
           R"("guided_json":{"type":"integer"})",
           R"("guided_json":"{\"type\":\"integer\"}")",
           R"("structured_outputs":{"json":{"type":"integer"}})",
           R"("response_format":{"type":"json_object","schema":{"type":"integer"}})",
           R"("json_schema":{"type":"integer"})",
       }) {
    EXPECT_EQ(grammar(fields), integer) << fields;
  }
  EXPECT_EQ(grammar(R"("response_format":{"type":"json_object"})"), object);
  EXPECT_EQ(grammar(R"("structured_outputs":{"json_object":true})"), object);
  const GrammarText regex{GrammarForm::regex, "[0-9]+"};
  EXPECT_EQ(grammar(R"("guided_regex":"[0-9]+")"), regex);
  EXPECT_EQ(grammar(R"("structured_outputs":{"regex":"[0-9]+"})"), regex);
  const GrammarText choice{GrammarForm::lark, R"(start: "yes" | "\"no\"\n")"};
  EXPECT_EQ(grammar(R"("guided_choice":["yes","\"no\"\n"])"), choice);
  EXPECT_EQ(grammar(R"("structured_outputs":{"choice":["yes","\"no\"\n"]})"), choice);
  const GrammarText rules{GrammarForm::lark, "start: \"a\""};
  EXPECT_EQ(grammar(R"("guided_grammar":"start: \"a\"")"), rules);
  EXPECT_EQ(grammar(R"("structured_outputs":{"grammar":"start: \"a\""})"), rules);
}

TEST_F(StructuredOutput, IsNotAskedForByValuesThatMeanText) {
  for (const std::string_view fields :
       {R"("response_format":{"type":"text"})", R"("response_format":{})", R"("response_format":null,"guided_json":null)",
        R"("structured_outputs":{})", R"("structured_outputs":{"json_object":false})"}) {
    EXPECT_TRUE(grammar(fields).empty()) << fields;
  }
}

TEST_F(StructuredOutput, EndsWhereItsGrammarIsCompleteWhateverTheRequestSaysOfEnds) {
  auto reply = post(ask(R"("guided_regex":"a","ignore_eos":true)"));
  const auto submit = inbox.take<Submit>();
  EXPECT_THAT(submit.spec.stop_ids, Contains(kEnd));
  deliver(submit.request, "a<|im_end|>", Finish::stop);
  reply.get();
}

TEST_F(StructuredOutput, SaysWhichKeysItIgnored) {
  auto reply = post(ask(R"("structured_outputs":{"regex":"a","whitespace_pattern":" "},"store":true,
      "response_format":{"type":"text","indent":2,"json_schema":{"name":"n","schema":{},"depth":1}})"));
  deliver(inbox.take<Submit>().request, "a<|im_end|>", Finish::stop);
  EXPECT_THAT(json::parse(reply.get().body)["slipstream"]["warnings"],
              testing::ElementsAre("`structured_outputs.whitespace_pattern` is not used here and was ignored.",
                                   "`response_format.indent` is not used here and was ignored.",
                                   "`response_format.json_schema.depth` is not used here and was ignored.",
                                   "`store` is not used here and was ignored."));
}

TEST_F(StructuredOutput, IsRefusedWithTheFieldAndTheReason) {
  for (const auto& [fields, param, reason] : {
           std::tuple(R"("response_format":"json")", "response_format", "an object with `type`"),
           std::tuple(R"("response_format":{"type":"xml"})", "response_format.type", "json_schema"),
           std::tuple(R"("response_format":{"type":"json_schema"})", "response_format.json_schema.schema", "missing"),
           std::tuple(R"("response_format":{"type":"json_schema","json_schema":{"schema":3}})",
                      "response_format.json_schema.schema", "it is 3"),
           std::tuple(R"("response_format":{"type":"json_schema","json_schema":{"schema":{"type":"foo"}}})", "response_format",
                      "`response_format` cannot be followed: Invalid type: foo"),
           std::tuple(R"("guided_json":"{")", "guided_json", "cannot be followed: EOF"),
           std::tuple(R"("guided_regex":"(")", "guided_regex", "cannot be followed"),
           std::tuple(R"("guided_regex":"")", "guided_regex", "not empty"),
           std::tuple(R"("guided_regex":"a\u0000")", "guided_regex", "NUL"),
           std::tuple(R"("guided_choice":[])", "guided_choice", "at least one"),
           std::tuple(R"("guided_choice":["a",1])", "guided_choice", "list of texts"),
           std::tuple(R"("guided_grammar":"start: b")", "guided_grammar", "cannot be followed"),
           std::tuple(R"("structured_outputs":{"regex":5})", "structured_outputs.regex", "it is 5"),
           std::tuple(R"("structured_outputs":{"json_object":1})", "structured_outputs.json_object", "true or false"),
           std::tuple(R"("guided_regex":"a","guided_choice":["a"])", "guided_choice",
                      "`guided_regex` and `guided_choice` both"),
           std::tuple(R"("guided_regex":"ab","allowed_token_ids":[5])", "allowed_token_ids",
                      "`allowed_token_ids` and `guided_regex` forbid every one"),
       }) {
    const json error = refusal_of(fields);
    EXPECT_EQ(error["param"], param) << error.dump();
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(reason));
  }
}

TEST_F(StructuredOutput, IsBoundedInItsSize) {
  EXPECT_EQ(refusal_of(fmt::format(R"("guided_regex":"{}")", std::string(kGrammarRulesBytesMax + 1, 'a')))["param"],
            "guided_regex");
  EXPECT_EQ(refusal_of(fmt::format(R"("guided_json":{{"const":"{}"}})", std::string(kGrammarBytesMax, 'a')))["param"],
            "guided_json");
  std::string choices = R"("a")";
  for (size_t i = 0; i < kGuidedChoicesMax; ++i) choices += R"(,"a")";
  EXPECT_EQ(refusal_of(fmt::format(R"("guided_choice":[{}])", choices))["param"], "guided_choice");
}

// Anthropic's clients parse the answer by the class that they made the schema of.
TEST_F(StructuredOutput, IsAskedForByAMessage) {
  const auto told = [this](std::string_view fields) {
    return post(fmt::format(R"({{"max_tokens":9,"messages":[{{"role":"user","content":"hi"}}],{}}})", fields), "/v1/messages");
  };
  for (const std::string_view fields : {R"("output_config":{"format":{"type":"json_schema","schema":{"type":"integer"}}})",
                                        R"("output_format":{"type":"json_schema","schema":{"type":"integer"}})"}) {
    auto reply = told(fields);
    const auto submit = inbox.take<Submit>();
    EXPECT_EQ(submit.spec.grammar, schema(R"({"type":"integer"})")) << fields;
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_FALSE(json::parse(reply.get().body)["slipstream"].contains("warnings")) << fields;
  }
  auto effort = told(R"("output_config":{"effort":"low"})");
  const auto submit = inbox.take<Submit>();
  EXPECT_TRUE(submit.spec.grammar.empty());
  deliver(submit.request, "x<|im_end|>", Finish::stop);
  EXPECT_THAT(effort.get().body, HasSubstr("`output_config.effort` is not used"));
  for (const auto& [fields, words] :
       {std::pair(R"("output_config":{"format":{"type":"json_schema"}})", "`output_config.format.schema` is missing"),
        std::pair(R"("output_config":{"format":{"type":"xml"}})", "`output_config.format.type` must be"),
        std::pair(R"("output_format":{"type":"json_schema","schema":{"type":"foo"}})", "`output_format` cannot be followed"),
        std::pair(R"("output_config":7)", "`output_config` must be")}) {
    const auto reply = told(fields).get();
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(json::parse(reply.body)["error"]["message"].get<std::string>(), HasSubstr(words));
  }
}

// A verifier does not know which field asked for the grammar.
TEST_F(StructuredOutput, NamesTheRequestsFieldWhereAVerifierNamesTheGrammar) {
  auto reply = post(ask(R"("guided_regex":"ab")"));
  const auto submit = inbox.take<Submit>();
  api.fail(
      {.request = submit.request, .status = 400, .code = "invalid_value", .message = "`grammar` is hard.", .param = "grammar"});
  const json error = json::parse(reply.get().body)["error"];
  EXPECT_EQ(error["param"], "guided_regex");
  EXPECT_EQ(error["message"], "`guided_regex` is hard.");
}

class CallsThatMustBe : public StructuredOutput {
 protected:
  explicit CallsThatMustBe(std::string_view jinja = "{{ tools | tojson if tools }}<tool_call>{{ messages[0].content }}")
      : StructuredOutput(jinja) {}

  // Whether the request's grammar lets the model write this whole text.
  bool takes(std::string_view fields, std::string_view text, std::string_view tools = kTools) {
    Grammar follows = *small_grammars().compile(grammar(fmt::format("{},{}", tools, fields)));
    for (const char letter : text) {  // any way to write it will do: the masks prefer one
      if (!follows.advance(small_ids(std::string(1, letter)))) return false;
    }
    return follows.allowed_after({}).value().allows(kEnd);
  }
};

constexpr std::string_view kWeather = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>";
constexpr std::string_view kTime = "<tool_call>\n{\"name\": \"time\", \"arguments\": {}}\n</tool_call>";

TEST_F(CallsThatMustBe, AreWrittenInTheModelsOwnForm) {
  EXPECT_TRUE(takes(R"("tool_choice":"required")", kWeather));
  EXPECT_TRUE(takes(R"("tool_choice":"required")", kTime));
  EXPECT_TRUE(takes(R"("tool_choice":"required")", fmt::format("{}\n{}", kWeather, kTime)));
  EXPECT_FALSE(takes(R"("tool_choice":"required")", "I would rather not."));
  EXPECT_FALSE(takes(R"("tool_choice":"required")",
                     "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"town\": \"Rome\"}}\n</tool_call>"));
}

TEST_F(CallsThatMustBe, AreOfTheToolThatIsNamed) {
  constexpr std::string_view kNamed = R"("tool_choice":{"type":"function","function":{"name":"time"}})";
  EXPECT_TRUE(takes(kNamed, kTime));
  EXPECT_FALSE(takes(kNamed, kWeather));
}

TEST_F(CallsThatMustBe, AreOneIfOneIsNamed) {
  constexpr std::string_view kNamed = R"("tool_choice":{"type":"function","function":{"name":"time"}})";
  EXPECT_FALSE(takes(kNamed, fmt::format("{}\n{}", kTime, kTime)));
}

TEST_F(CallsThatMustBe, LeaveNoTextWhereTheAnswerIsCut) {
  const auto message = [this](std::string_view choice, const std::string& written) {
    auto reply = post(ask(fmt::format(R"({},"tool_choice":"{}")", kTools, choice)));
    deliver(inbox.take<Submit>().request, written, Finish::length);
    const json told = json::parse(reply.get().body)["choices"][0];
    EXPECT_EQ(told["finish_reason"], "length");
    return told["message"];
  };
  const std::string second = fmt::format("{}\n<tool_call>{{\"name\": \"ti", kTime);
  const json behind = message("required", second);
  EXPECT_TRUE(behind["content"].is_null()) << behind;
  EXPECT_EQ(behind["tool_calls"].size(), 1) << behind;
  EXPECT_EQ(message("required", "<tool_ca")["content"], "");
  EXPECT_THAT(message("auto", second)["content"].get<std::string>(), HasSubstr("<tool_call>")) << "it may be text";
}

TEST_F(CallsThatMustBe, KnowWhatTheirSchemasReferTo) {
  for (const std::string_view defs : {"$defs", "definitions"}) {
    const std::string tools = fmt::format(
        R"("tools":[{{"type":"function","function":{{"name":"go","parameters":{{"type":"object","required":["to"],"{0}":{{
           "place":{{"enum":["Rome"]}}}},"properties":{{"to":{{"$ref":"#/{0}/place"}}}}}}}}}}])",
        defs);
    const auto call = [](std::string_view to) {
      return fmt::format("<tool_call>\n{{\"name\": \"go\", \"arguments\": {{\"to\": \"{}\"}}}}\n</tool_call>", to);
    };
    EXPECT_TRUE(takes(R"("tool_choice":"required")", call("Rome"), tools));
    EXPECT_FALSE(takes(R"("tool_choice":"required")", call("Oslo"), tools));
  }
}

constexpr std::string_view kFormat =
    R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"integer"}}})";

TEST_F(CallsThatMustBe, AreThatWhateverTheFormatOfTexts) {
  const std::string both = fmt::format(R"({},"tool_choice":"required")", kFormat);
  EXPECT_TRUE(takes(both, kTime));
  EXPECT_FALSE(takes(both, "7"));
}

using CallsThatMayBe = CallsThatMustBe;

TEST_F(CallsThatMayBe, StandInPlaceOfADocument) {
  EXPECT_TRUE(takes(kFormat, kTime));
  EXPECT_TRUE(takes(kFormat, fmt::format("{}\n{}", kTime, kWeather)));
  EXPECT_TRUE(takes(kFormat, "7"));
  EXPECT_FALSE(takes(kFormat, "seven"));
  EXPECT_FALSE(takes(kFormat, fmt::format("{}7", kTime)));
}

TEST_F(CallsThatMayBe, AreNotWhereNoneIsAllowedOrNoGrammarHasThem) {
  EXPECT_FALSE(takes(fmt::format(R"({},"tool_choice":"none")", kFormat), kTime));
  const std::string odd = R"("tools":[{"type":"function","function":{"name":"go","parameters":{"type":"foo"}}}])";
  EXPECT_TRUE(takes(kFormat, "7", odd));
  auto reply = post(ask(fmt::format("{},{}", odd, kFormat)));
  deliver(inbox.take<Submit>().request, "7<|im_end|>", Finish::stop);
  EXPECT_THAT(reply.get().body, HasSubstr("The tools cannot be called"));
}

TEST_F(CallsThatMustBe, AreOneIfTheyMayNotBeParallel) {
  EXPECT_FALSE(takes(R"("tool_choice":"required","parallel_tool_calls":false)", fmt::format("{}\n{}", kWeather, kTime)));
}

struct PythonCallsThatMustBe : CallsThatMustBe {
  PythonCallsThatMustBe() : CallsThatMustBe("{{ tools | tojson if tools }}[func_name1({{ messages[0].content }}") {}

  static std::string tools(std::string_view parameters) {
    return fmt::format(R"("tools":[{{"type":"function","function":{{"name":"go","parameters":{}}}}}])", parameters);
  }
  static constexpr std::string_view kMust = R"("tool_choice":"required")";
};

TEST_F(PythonCallsThatMustBe, AreWrittenInTheModelsOwnForm) {
  EXPECT_TRUE(takes(kMust, R"([weather(city="Rome")])"));
  EXPECT_TRUE(takes(kMust, R"([time(), weather(city="Rome")])"));
  EXPECT_FALSE(takes(R"("tool_choice":"required","parallel_tool_calls":false)", "[time(), time()]"));
  EXPECT_FALSE(takes(kMust, R"([weather(town="Rome")])"));
  EXPECT_FALSE(takes(kMust, R"([weather()])"));
  EXPECT_FALSE(takes(kMust, "[]"));
}

TEST_F(PythonCallsThatMustBe, HaveWhatIsRequiredFirstAndTheRestInOrder) {
  const std::string both = tools(R"({"type":"object","properties":{"a":{"type":"integer"},"to":{"$ref":"#/$defs/place"}},
      "required":["to"],"$defs":{"place":{"type":"array","items":{"type":"integer"}}}})");
  EXPECT_TRUE(takes(kMust, "[go(to=[1, 2], a=3)]", both));
  EXPECT_TRUE(takes(kMust, "[go(to=[])]", both));
  EXPECT_FALSE(takes(kMust, "[go(a=3)]", both));
  EXPECT_FALSE(takes(kMust, R"([go(to="Rome")])", both));
  const std::string none = tools(R"({"properties":{"a":{"type":"boolean"},"b":true,"c":{"enum":["x"]}}})");
  for (const std::string_view list : {"", "a=true", R"(b="any")", R"(c="x")", R"(a=true, c="x")", R"(a=false, b=1, c="x")"}) {
    EXPECT_TRUE(takes(kMust, fmt::format("[go({})]", list), none)) << list;
  }
  for (const std::string_view list : {", a=true", R"(c="x", a=true)", "a=1"}) {
    EXPECT_FALSE(takes(kMust, fmt::format("[go({})]", list), none)) << list;
  }
}

TEST_F(PythonCallsThatMustBe, AreRefusedWhereTheirFormHasNoPlaceForTheSchema) {
  for (const auto& [parameters, param, reason] :
       {std::tuple(R"({"oneOf":[]})", "tools[0].function.parameters.oneOf", "of the tool `go` cannot be enforced"),
        std::tuple(R"({"properties":{"a-b":{}}})", "tools[0].function.parameters.properties.a-b", "`a-b` is no name")}) {
    const json error = json::parse(post(ask(fmt::format("{},{}", tools(parameters), kMust))).get().body)["error"];
    EXPECT_EQ(error["param"], param) << error.dump();
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(reason));
  }
}

TEST_F(CallsThatMustBe, NameTheToolAndThePlaceWhereItsSchemaIsWrong) {
  const auto tools = [](std::string_view parameters) {
    return fmt::format(R"("tools":[{{"type":"function","function":{{"name":"time"}}}},
        {{"type":"function","function":{{"name":"go","parameters":{}}}}}],"tool_choice":"required")",
                       parameters);
  };
  const std::string at = "tools[1].function.parameters";
  for (const auto& [parameters, place, reason] :
       {std::tuple(R"({"type":"foo"})", "", "Invalid type: foo"),
        std::tuple(R"({"type":"object","properties":{"to":{"type":"string"},"by":{"type":"foo"}}})", ".properties.by",
                   "Invalid type: foo"),
        std::tuple(R"({"properties":{"to":{"type":"array","items":{"anyOf":[{"type":"null"},{"pattern":"(?=a)b"}]}}}})",
                   ".properties.to.items.anyOf[1]", "look-ahead"),
        std::tuple(R"({"properties":{"to":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"b":{"type":"foo"}}}}})",
                   ".$defs.a.properties.b", "Invalid type: foo")}) {
    const json error = refusal_of(tools(parameters));
    EXPECT_EQ(error["param"], at + place) << error.dump();
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(fmt::format("`{}{}` of the tool `go` cannot be", at, place)));
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(reason));
  }
}

TEST_F(CallsThatMustBe, AreRefusedWhereNoneCanBe) {
  for (const auto& [fields, reason] : {
           std::pair(std::string(R"("tool_choice":"required")"), "`tools` is missing"),
           std::pair(std::string(R"("tool_choice":"required","tools":[])"), "`tools` is empty"),
           std::pair(fmt::format(R"({},"tool_choice":{{"type":"function","function":{{"name":"sing"}}}})", kTools),
                     "`sing`, which is not in `tools`"),
           std::pair(fmt::format(R"({},"tool_choice":"required","guided_regex":"a")", kTools), "for another form"),
       }) {
    const json error = refusal_of(fields);
    EXPECT_EQ(error["param"], "tool_choice") << error.dump();
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(reason));
  }
}

}  // namespace
}  // namespace slipstream
