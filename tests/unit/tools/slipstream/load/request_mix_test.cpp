#include "tools/slipstream/load/request_mix.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace slipstream::command::load {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<AskedPrompt> numbers(int count) {
  std::vector<AskedPrompt> prompts;
  for (int i = 0; i < count; ++i) prompts.push_back({.text = std::to_string(i)});
  return prompts;
}

std::string question(const RequestMix& mix, size_t number) {
  return json::parse(mix.body(number))["messages"].back()["content"];
}

TEST(RequestMix, AsksForAStreamWithItsTokensCounted) {
  const RequestMix mix({{.text = "hi"}}, {.model = "m", .max_tokens = 5, .temperature = 0.5, .seed = 40},
                       PromptOrder::shuffled);
  EXPECT_EQ(json::parse(mix.body(2)), json::parse(R"({"model": "m", "messages": [{"role": "user", "content": "hi"}],
      "max_tokens": 5, "temperature": 0.5, "seed": 42, "stream": true, "stream_options": {"include_usage": true}})"));
}

TEST(RequestMix, AsksEachPromptOnceBeforeAnyTwice) {
  const RequestMix mix(numbers(20), {.seed = 3}, PromptOrder::shuffled);
  std::vector<std::string> first, second;
  for (size_t i = 0; i < 20; ++i) first.push_back(question(mix, i));
  for (size_t i = 20; i < 40; ++i) second.push_back(question(mix, i));
  EXPECT_EQ(first, second);
  std::ranges::sort(first);
  EXPECT_EQ(std::ranges::unique(first).size(), 0u);
}

TEST(RequestMix, OfOneSeedIsTheSameAgainAndOfAnotherIsNot) {
  const auto order = [](uint64_t seed) {
    const RequestMix mix(numbers(20), {.seed = seed}, PromptOrder::shuffled);
    std::string text;
    for (size_t i = 0; i < 20; ++i) text += question(mix, i) + " ";
    return text;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(RequestMix, KeepsTheOrderOfATraceAndItsLimits) {
  const RequestMix mix(
      {{.text = "a", .messages = "", .max_tokens = 3}, {.text = "", .messages = R"([{"role": "user", "content": "b"}])"}},
      {.max_tokens = 9}, PromptOrder::as_given);
  EXPECT_EQ(question(mix, 0), "a");
  EXPECT_EQ(question(mix, 1), "b");
  EXPECT_EQ(mix.max_tokens(0), 3);
  EXPECT_EQ(json::parse(mix.body(1))["max_tokens"], 9);
}

TEST(RequestMix, PutsTheSharedPrefixBeforeEveryQuestion) {
  const std::string prefix = shared_prefix(500, 1);
  EXPECT_EQ(std::ranges::count(prefix, ' '), 499);
  EXPECT_EQ(prefix, shared_prefix(500, 1));
  EXPECT_NE(prefix, shared_prefix(500, 2));
  const RequestMix mix(numbers(3), {.system = prefix}, PromptOrder::shuffled);
  for (size_t i = 0; i < 3; ++i) {
    const json messages = json::parse(mix.body(i))["messages"];
    EXPECT_EQ(messages[0], (json{{"role", "system"}, {"content", prefix}}));
    EXPECT_EQ(messages.size(), 2u);
  }
}

TEST(RequestMix, TakesOtherFieldsButNoneThatTheMeasurementNeeds) {
  const RequestMix mix(numbers(1), {.token_ids = true, .more = R"({"ignore_eos": true, "temperature": 1})"},
                       PromptOrder::shuffled);
  const json body = json::parse(mix.body(0));
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["temperature"], 1);
  EXPECT_EQ(body["slipstream"]["tokens"], true);
  EXPECT_TRUE(check_more_fields(""));
  EXPECT_TRUE(check_more_fields(R"({"ignore_eos": true})"));
  EXPECT_THAT(check_more_fields("[1]").error().message, HasSubstr("is no JSON object; write it as '{\"ignore_eos\": true}'"));
  EXPECT_THAT(check_more_fields(R"({"stream": false})").error().message, HasSubstr("cannot set \"stream\""));
}

}  // namespace
}  // namespace slipstream::command::load
