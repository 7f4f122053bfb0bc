#include "services/router/http_api/chat_request.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "services/router/http_api/generation_fields.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kMessages = R"("messages":[{"role":"user","content":"hi"}])";

ApiResult<ChatRequest> parse(std::string_view body) {
  const Offer offer{.names = {"demo", "alias"}, .rules = {"coupled", "ratio", "traversal", "batch", "typical", "lenience"}};
  return parse_chat_request(body, offer);
}
// A sound body with these fields besides.
ApiResult<ChatRequest> with(std::string_view fields) { return parse(fmt::format("{{{},{}}}", kMessages, fields)); }

TEST(ChatRequest, ReadsTheShortestBody) {
  const auto request = parse(fmt::format("{{{}}}", kMessages));
  ASSERT_TRUE(request);
  ASSERT_EQ(request->messages.size(), 1);
  EXPECT_EQ(request->messages[0].role, "user");
  EXPECT_EQ(request->messages[0].content, "hi");
  EXPECT_EQ(request->spec.sampling, SamplingParams{});
  EXPECT_EQ(request->spec.output_max, 0);
  EXPECT_FALSE(request->stream);
  EXPECT_TRUE(request->speculation.enabled);
}

TEST(ChatRequest, ReadsEveryFieldThatIsBuilt) {
  const auto request = with(R"("model":"demo","max_completion_tokens":7,"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.1,
      "seed":-3,"stop":["a","b"],"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"n":1,
      "ignore_eos":true,"user":"u","metadata":{"a":"b"},"best_of":1,"speculation":{"enabled":false},"slipstream":{"tokens":true})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->spec.output_max, 7);
  EXPECT_EQ(request->spec.sampling, (SamplingParams{.temperature = 0.5F, .top_k = 40, .top_p = 0.9F, .min_p = 0.1F}));
  EXPECT_EQ(request->seed, -3);
  EXPECT_THAT(request->stops, ElementsAre("a", "b"));
  EXPECT_TRUE(request->stream && request->include_usage && request->continuous_usage && request->ignore_eos);
  EXPECT_TRUE(request->tell_tokens);
  EXPECT_FALSE(request->speculation.enabled);
}

TEST(ChatRequest, ReadsWhatChangesLogits) {
  const auto request = with(R"("repetition_penalty":1.5,"presence_penalty":-0.5,"frequency_penalty":2,"min_tokens":3,
      "logit_bias":{"7":-100,"3":1.5},"allowed_token_ids":[9,3,9],"bad_words":["no","nay"],"logprobs":true,"top_logprobs":20)");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->spec.logits_params, (LogitsParams{.repetition_penalty = 1.5F,
                                                       .presence_penalty = -0.5F,
                                                       .frequency_penalty = 2,
                                                       .min_tokens = 3,
                                                       .bias = {{3, 1.5F}, {7, -100}},
                                                       .allowed = {3, 9}}));
  EXPECT_THAT(request->bad_words, ElementsAre("no", "nay"));
  EXPECT_EQ(request->spec.top_logprobs, 20);
  EXPECT_EQ(with(R"("logprobs":true)")->spec.top_logprobs, 0);
}

TEST(ChatRequest, JoinsContentGivenAsParts) {
  const auto request =
      parse(R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->messages[0].content, "ab");
}

TEST(ChatRequest, TakesDeveloperForSystem) {
  const auto request = parse(R"({"messages":[{"role":"developer","content":"x"}]})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->messages[0].role, "system");
}

TEST(ChatRequest, TakesNullForAbsent) {
  const auto request =
      with(R"("temperature":null,"stop":null,"seed":null,"max_tokens":null,"tools":null,"stream_options":null)");
  EXPECT_TRUE(request);
}

TEST(ChatRequest, TakesSpeculationSwitchedOffByItself) {
  const auto request = with(R"("speculation":{"enabled":false,"rule":null,"nodes":null})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_FALSE(request->speculation.enabled);
}

TEST(ChatRequest, IgnoresWhatNobodyKnowsAndSaysSo) {
  auto request = with(R"("store":true,"x_future":{"a":[1]},"temprature":0.1)");
  ASSERT_TRUE(request);
  EXPECT_THAT(request->ignored, ElementsAre("store", "x_future", "temprature"));
  ASSERT_TRUE(tell_ignored(*request, {}));
  EXPECT_THAT(request->warnings,
              ElementsAre("`store` is not used here and was ignored.", "`x_future` is not used here and was ignored.",
                          "`temprature` is not used here and was ignored."));
  EXPECT_THAT(parse(fmt::format("{{{}}}", kMessages))->ignored, testing::IsEmpty());
}

TEST(ChatRequest, IsRefusedByAStrictServerForAFieldThatNobodyKnows) {
  auto request = with(R"("seed":1,"temprature":0.1)");
  ASSERT_TRUE(request);
  const auto told = tell_ignored(*request, {.strict = true});
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().status, 400);
  EXPECT_EQ(told.error().param, "temprature");
  EXPECT_EQ(told.error().code, "unknown_parameter");
  EXPECT_THAT(told.error().message, HasSubstr("--strict"));
  auto known = with(R"("seed":1)");
  EXPECT_TRUE(tell_ignored(*known, {.strict = true}));
}

TEST(ChatRequest, NamesNoMoreIgnoredFieldsThanItsLimitAndCutsTheirNames) {
  std::string fields = fmt::format("\"{}\":1", std::string(10'000, 'x'));
  for (int i = 0; i < 1000; ++i) fields += fmt::format(",\"field{}\":1", i);
  auto request = with(fields);
  ASSERT_TRUE(request);
  ASSERT_TRUE(tell_ignored(*request, {}));
  ASSERT_EQ(request->warnings.size(), kIgnoredNamedMax);
  EXPECT_LT(request->warnings[0].size(), 2 * kIgnoredNameBytesMax);
}

TEST(ChatRequest, TakesATemperatureNearZeroForTheNearerEndAndSaysSo) {
  for (const auto& [asked, taken] : {std::pair("1e-8", 0.0F), std::pair("0.001", 0.0F), std::pair("0.009", kTemperatureMin)}) {
    const auto request = with(fmt::format("\"temperature\":{}", asked));
    ASSERT_TRUE(request) << asked;
    EXPECT_EQ(request->spec.sampling.temperature, taken) << asked;
    ASSERT_EQ(request->warnings.size(), 1) << asked;
    EXPECT_THAT(request->warnings[0], HasSubstr("`temperature`"));
  }
  for (const auto& exact : {"0", "0.01"}) {
    EXPECT_TRUE(with(fmt::format("\"temperature\":{}", exact))->warnings.empty()) << exact;
  }
}

TEST(ChatRequest, TakesIntegersWithAPointOrAnExponent) {
  EXPECT_EQ(with(R"("max_tokens":4.0)")->spec.output_max, 4);
  EXPECT_EQ(with(R"("max_tokens":1e2)")->spec.output_max, 100);
  EXPECT_EQ(with(R"("seed":-3.0)")->seed, -3);
}

TEST(ChatRequest, TakesAnAssistantsMessageWithoutContent) {
  for (const std::string_view content : {R"(,"content":null)", ""}) {
    const auto request = parse(
        fmt::format(R"({{"messages":[{{"role":"assistant"{},"tool_calls":[]}},{{"role":"user","content":"x"}}]}})", content));
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->messages[0].content, "");
  }
}

TEST(ChatRequest, TakesAsManyStopStringsAsTheirBytesAllow) {
  std::string list = R"("0")";
  for (int i = 1; i < 1000; ++i) list += fmt::format(",\"{}\"", i);
  const auto request = with(fmt::format("\"stop\":[{}]", list));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->stops.size(), 1000);
}

TEST(ChatRequest, SamplesByTheDefaultsWhereItSaysNothing) {
  const Offer offer{
      .names = {"demo"},
      .defaults = {.params = {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F, .min_p = 0.05F}, .repetition_penalty = 1.1F}};
  const auto plain = parse_chat_request(fmt::format("{{{}}}", kMessages), offer);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->spec.sampling, offer.defaults.params);
  EXPECT_EQ(plain->spec.logits_params.repetition_penalty, 1.1F);
  const auto says = parse_chat_request(
      fmt::format(R"({{{},"temperature":1,"top_p":1,"top_k":-1,"min_p":0,"repetition_penalty":1}})", kMessages), offer);
  ASSERT_TRUE(says);
  EXPECT_EQ(says->spec.sampling, SamplingParams{});
  EXPECT_EQ(says->spec.logits_params.repetition_penalty, 1);
}

TEST(ChatRequest, TakesEveryNameOfTheModel) {
  EXPECT_TRUE(with(R"("model":"demo")"));
  EXPECT_TRUE(with(R"("model":"alias")"));
  const auto any = parse_chat_request(fmt::format(R"({{{},"model":"gpt-4o"}})", kMessages), {.names = {"demo", "*"}});
  EXPECT_TRUE(any) << any.error().message;
}

TEST(ChatRequest, SkipsAByteOrderMark) { EXPECT_TRUE(parse(fmt::format("\xEF\xBB\xBF{{{}}}", kMessages))); }

TEST(ChatRequest, TakesEverySeedOf64Bits) {
  EXPECT_EQ(with(R"("seed":-9223372036854775808)")->seed, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(with(R"("seed":9223372036854775807)")->seed, std::numeric_limits<int64_t>::max());
}

struct Bad {
  std::string body;
  int status;
  std::string param, code;
  std::string words;  // that the message has
};
Bad field(std::string_view fields, std::string param, std::string code, std::string words) {
  return {fmt::format("{{{},{}}}", kMessages, fields), 400, std::move(param), std::move(code), std::move(words)};
}

TEST(ChatRequest, NamesARuleWithItsShapeAndLimits) {
  const auto asked = [](std::string_view speculation) {
    const auto request =
        parse(fmt::format(R"({{"messages":[{{"role":"user","content":"x"}}],"speculation":{}}})", speculation));
    EXPECT_TRUE(request);
    return request ? request->speculation : Speculation();
  };
  EXPECT_EQ(asked("{}").acceptance.rule, Rule::coupled);
  EXPECT_EQ(asked(R"({"rule":"ratio"})").acceptance, (Acceptance{.rule = Rule::ratio}));
  EXPECT_EQ(asked(R"({"rule":"ratio","siblings":3})").acceptance,
            (Acceptance{.rule = Rule::ratio, .root_children = 3, .children = 3}));
  EXPECT_EQ(asked(R"({"rule":"batch","siblings":4})").acceptance,
            (Acceptance{.rule = Rule::ratio, .root_children = 4, .repeats = true}));
  EXPECT_EQ(asked(R"({"rule":"typical","epsilon":0.3,"delta":0.09})").acceptance,
            (Acceptance{.rule = Rule::typical, .strength = 0.3F, .delta = 0.09F}));
  const Speculation limited = asked(R"({"nodes":3,"depth":2,"drafter":"ngram"})");
  EXPECT_EQ(limited.nodes_max, 3);
  EXPECT_EQ(limited.depth_max, 2);
  EXPECT_EQ(limited.drafter, "ngram");
}

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsRefusedWithFieldAndLimit) {
  const Bad& bad = GetParam();
  const auto request = parse(bad.body);
  ASSERT_FALSE(request) << bad.body;
  EXPECT_EQ(request.error().status, bad.status) << bad.body;
  EXPECT_EQ(request.error().param, bad.param) << bad.body;
  EXPECT_EQ(request.error().code, bad.code) << bad.body;
  EXPECT_THAT(request.error().message, HasSubstr(bad.words));
}

std::string repeated(std::string_view piece, size_t times) {
  std::string text(piece);
  for (size_t i = 1; i < times; ++i) text += fmt::format(",{}", piece);
  return text;
}

std::string nested(int depth) {
  return fmt::format("{{{},\"x\":{}{}}}", kMessages, std::string(depth, '['), std::string(depth, ']'));
}

INSTANTIATE_TEST_SUITE_P(
    Json, BadInput,
    testing::Values(Bad{"", 400, "", "invalid_json", "empty"}, Bad{"{", 400, "", "invalid_json", "line 1, column 2"},
                    Bad{"[]", 400, "", "invalid_json", "it is a list"}, Bad{"\"x\"", 400, "", "invalid_json", "it is a string"},
                    Bad{"{\"messages\":\"\xFF\"}", 400, "", "invalid_json", "line 1, column 14"},
                    Bad{R"({"messages":[{"role":"user","content":"\ud800"}]})", 400, "", "invalid_json", "surrogate"},
                    Bad{R"({"messages":[]} x)", 400, "", "invalid_json", "line 1, column 17"},
                    Bad{"{\n  'messages': []}", 400, "", "invalid_json", "line 2, column 3"},
                    Bad{"{\"a\":\n\n [1,]}", 400, "", "invalid_json", "line 3, column 5"},
                    Bad{R"({"top_k":1e999})", 400, "top_k", "invalid_value", "1e999"},
                    Bad{nested(1'000'000), 400, "", "invalid_json", "32 levels"}));

INSTANTIATE_TEST_SUITE_P(
    Messages, BadInput,
    testing::Values(Bad{"{}", 400, "messages", "invalid_value", "it is missing"},
                    Bad{R"({"prompt":"x"})", 400, "messages", "invalid_value", "`prompt` is not read here"},
                    Bad{R"({"messages":[]})", 400, "messages", "invalid_value", "it is empty"},
                    Bad{R"({"messages":"hi"})", 400, "messages", "invalid_value", "it is a string"},
                    Bad{R"({"messages":["hi"]})", 400, "messages[0]", "invalid_value", "object"},
                    Bad{R"({"messages":[{"content":"x"}]})", 400, "messages[0].role", "invalid_value", "user"},
                    Bad{R"({"messages":[{"role":"bot","content":"x"}]})", 400, "messages[0].role", "invalid_value", "bot"},
                    Bad{R"({"messages":[{"role":1,"content":"x"}]})", 400, "messages[0].role", "invalid_type", "string"},
                    Bad{R"({"messages":[{"role":"user"}]})", 400, "messages[0].content", "invalid_value", "missing"},
                    Bad{R"({"messages":[{"role":"user","content":null}]})", 400, "messages[0].content", "invalid_value",
                        "null"},
                    Bad{R"({"messages":[{"role":"user","content":5}]})", 400, "messages[0].content", "invalid_value", "string"},
                    Bad{R"({"messages":[{"role":"user","content":[{"type":"image_url"}]}]})", 400,
                        "messages[0].content[0].type", "invalid_value", "text only"},
                    Bad{R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})", 400, "messages[0].content[0].text",
                        "invalid_value", "string"}));

INSTANTIATE_TEST_SUITE_P(
    Fields, BadInput,
    testing::Values(
        Bad{fmt::format("{{{},\"model\":\"gpt-4\"}}", kMessages), 404, "model", "model_not_found", "demo"},
        field(R"("model":7)", "model", "invalid_type", "string"),
        field(R"("temperature":2.1)", "temperature", "invalid_value", "between 0 and 2"),
        field(R"("temperature":-1)", "temperature", "invalid_value", "between 0 and 2"),
        field(R"("temperature":"hot")", "temperature", "invalid_type", "a string"),
        field(R"("temperature":true)", "temperature", "invalid_type", "a boolean"),
        field(R"("top_p":0)", "top_p", "invalid_value", "above 0"),
        field(R"("top_p":1.5)", "top_p", "invalid_value", "between 0 and 1"),
        field(R"("min_p":1)", "min_p", "invalid_value", "below 1"),
        field(R"("top_k":-2)", "top_k", "invalid_value", "between -1"),
        field(R"("top_k":1.5)", "top_k", "invalid_type", "integer"),
        field(R"("max_tokens":0)", "max_tokens", "invalid_value", "between 1 and 131072"),
        field(R"("max_completion_tokens":140000)", "max_completion_tokens", "invalid_value", "131072"),
        field(R"("seed":18446744073709551615)", "seed", "invalid_value", "integer"),
        field(R"("seed":1.5)", "seed", "invalid_type", "integer"), field(R"("n":0)", "n", "invalid_value", "between 1 and 8"),
        field(R"("n":9)", "n", "invalid_value", "8"), field(R"("seed":1e19)", "seed", "invalid_value", "integer"),
        field(fmt::format("\"stop\":[{}]", repeated(fmt::format("\"{}\"", std::string(kStopStringBytesMax, 'x')),
                                                    kStopBytesMax / kStopStringBytesMax + 1)),
              "stop", "invalid_value", "the limit is 16384"),
        field(R"("stop":"")", "stop", "invalid_value", "empty"), field(R"("stop":[1])", "stop", "invalid_value", "strings"),
        field(fmt::format("\"stop\":\"{}\"", std::string(kStopStringBytesMax + 1, 'x')), "stop", "invalid_value",
              "limit is 256"),
        field(R"("stream":"yes")", "stream", "invalid_type", "true or false"),
        field(R"("stream_options":{})", "stream_options", "invalid_value", "stream"),
        field(R"("stream":true,"stream_options":{"include_usage":1})", "stream_options.include_usage", "invalid_type",
              "true or false"),
        field(R"("ignore_eos":1)", "ignore_eos", "invalid_type", "true or false"),
        field(R"("speculation":{"threshold":0.5})", "speculation.threshold", "invalid_value", "enabled"),
        field(R"("speculation":{"rule":"pareto"})", "speculation.rule", "invalid_value", "not allowed here"),
        field(R"("speculation":{"rule":"pareto"})", "speculation.rule", "invalid_value",
              "runs the server allows others with --rules"),
        field(R"("speculation":{"rule":"best"})", "speculation.rule", "invalid_value", "unknown here"),
        field(R"("speculation":{"siblings":2})", "speculation.siblings", "invalid_value", "does not go with"),
        field(R"("speculation":{"rule":"ratio","siblings":9})", "speculation.siblings", "invalid_value", "8"),
        field(R"("speculation":{"rule":"ratio","siblings":1.5})", "speculation.siblings", "invalid_type", "it is 1.5."),
        field(R"("speculation":{"rule":"ratio","lenience":0.5})", "speculation.lenience", "invalid_value", "does not go with"),
        field(R"("speculation":{"rule":"lenience"})", "speculation.lenience", "invalid_value", "needs"),
        field(R"("speculation":{"rule":"lenience","lenience":0})", "speculation.lenience", "invalid_value",
              "between 1e-06 and 1"),
        field(R"("speculation":{"rule":"traversal","siblings":1})", "speculation.siblings", "invalid_value", "`block`"),
        field(R"("speculation":{"rule":"typical","delta":0.1})", "speculation.epsilon", "invalid_value", "below which drafts"),
        field(R"("speculation":{"rule":"typical","epsilon":1.5,"delta":0.1})", "speculation.epsilon", "invalid_value", "1"),
        field(R"("speculation":{"enabled":false,"rule":"coupled"})", "speculation.rule", "invalid_value",
              "`speculation.enabled` is false"),
        field(R"("speculation":{"drafter":"ngram","enabled":false})", "speculation.drafter", "invalid_value",
              "`speculation.enabled` is false"),
        field(R"("speculation":{"enabled":false,"depth":2})", "speculation.depth", "invalid_value", "leave one of them out"),
        field(R"("speculation":{"nodes":64})", "speculation.nodes", "invalid_value", "63"),
        field(R"("speculation":true)", "speculation", "invalid_type", "an object"),
        field(R"("slipstream":{"token":true})", "slipstream.token", "invalid_value", "tokens")));

std::string many(std::string_view name, std::string_view open, std::string_view piece, int count, std::string_view close) {
  std::string text = fmt::format("\"{}\":{}", name, open);
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + fmt::format(fmt::runtime(piece), i);
  return text += close;
}

INSTANTIATE_TEST_SUITE_P(
    LogitsParams, BadInput,
    testing::Values(field(R"("repetition_penalty":0)", "repetition_penalty", "invalid_value", "between 0.0"),
                    field(R"("presence_penalty":2.5)", "presence_penalty", "invalid_value", "between -2 and 2"),
                    field(R"("frequency_penalty":"x")", "frequency_penalty", "invalid_type", "between -2 and 2"),
                    field(R"("min_tokens":-1)", "min_tokens", "invalid_value", "between 0 and"),
                    field(R"("min_tokens":9,"max_tokens":8)", "min_tokens", "invalid_value", "more than `max_tokens`: 8"),
                    field(R"("logit_bias":[1])", "logit_bias", "invalid_type", "an object"),
                    field(R"("logit_bias":{"a":1})", "logit_bias", "invalid_value", "the key \"a\""),
                    field(R"("logit_bias":{"-4":1})", "logit_bias", "invalid_value", "token ids"),
                    field(R"("logit_bias":{"4":101})", "logit_bias.4", "invalid_value", "between -100 and 100"),
                    field(R"("logit_bias":{"4":1,"04":2})", "logit_bias", "invalid_value", "token 4 twice"),
                    field(many("logit_bias", "{", "\"{}\":1", kLogitBiasMax + 1, "}"), "logit_bias", "invalid_value", "1024"),
                    field(R"("allowed_token_ids":[])", "allowed_token_ids", "invalid_value", "at least one"),
                    field(R"("allowed_token_ids":[-1])", "allowed_token_ids", "invalid_value", "from 0"),
                    field(many("allowed_token_ids", "[", "{}", kAllowedTokensMax + 1, "]"), "allowed_token_ids",
                          "invalid_value", "4096"),
                    field(R"("bad_words":"no")", "bad_words", "invalid_value", "list of strings"),
                    field(R"("bad_words":[""])", "bad_words", "invalid_value", "none of them empty"),
                    field(many("bad_words", "[", "\"{}\"", kBadWordsMax + 1, "]"), "bad_words", "invalid_value", "64"),
                    field(R"("logprobs":3)", "logprobs", "invalid_type", "true or false"),
                    field(R"("logprobs":true,"top_logprobs":21)", "top_logprobs", "invalid_value", "between 0 and 20"),
                    field(R"("top_logprobs":3)", "top_logprobs", "invalid_value", "goes with `logprobs`")));

INSTANTIATE_TEST_SUITE_P(
    NotBuiltYet, BadInput,
    testing::Values(field(R"("stop_token_ids":[1.5])", "stop_token_ids", "invalid_value", "integers"),
                    field(R"("n":2,"best_of":3)", "best_of", "unsupported_parameter", "/v1/completions"),
                    field(R"("echo":true)", "echo", "unsupported_parameter", "/v1/completions"),
                    field(R"("skip_special_tokens":3)", "skip_special_tokens", "invalid_type", "true or false"),
                    field(R"("chat_template":"{{ x }}")", "chat_template", "unsupported_parameter", "not built"),
                    field(R"("truncate_prompt_tokens":8)", "truncate_prompt_tokens", "unsupported_parameter", "not built"),
                    field(R"("grammar":"root ::= \"x\"")", "grammar", "unsupported_parameter", "not built")));

TEST(ChatRequest, BoundsMessagesAndTheirParts) {
  const auto chat = [](size_t messages) {
    return parse(fmt::format(R"({{"messages":[{}]}})", repeated(R"({"role":"user","content":"x"})", messages)));
  };
  EXPECT_TRUE(chat(kMessagesMax));
  const auto long_chat = chat(kMessagesMax + 1);
  ASSERT_FALSE(long_chat);
  EXPECT_EQ(long_chat.error().param, "messages");
  EXPECT_EQ(long_chat.error().message, "`messages` has 1025 messages; the limit is 1024.");

  const auto parts = [](size_t count) {
    return parse(
        fmt::format(R"({{"messages":[{{"role":"user","content":[{}]}}]}})", repeated(R"({"type":"text","text":"x"})", count)));
  };
  EXPECT_TRUE(parts(kContentPartsMax));
  const auto many = parts(kContentPartsMax + 1);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().param, "messages[0].content");
}

}  // namespace
}  // namespace slipstream
