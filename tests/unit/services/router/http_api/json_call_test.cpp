#include "services/router/http_api/json_call.h"

#include <string_view>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

// The state behind each of these bytes.
CallState read(JsonCall& call, std::string_view text) {
  CallState state = CallState::opening;
  for (const char next : text) state = call.read(next);
  return state;
}

TEST(JsonCall, BeginsWithItsNameAndTheBraceOfItsArguments) {
  JsonCall call;
  EXPECT_EQ(read(call, R"({"name": "f", "arguments": )"), CallState::opening);
  EXPECT_EQ(read(call, "{"), CallState::begun);
  EXPECT_EQ(call.name(), "f");
  EXPECT_EQ(read(call, R"("a": [{}, "}\"]"])"), CallState::begun);
  EXPECT_EQ(read(call, "}"), CallState::complete);
  EXPECT_EQ(read(call, R"(, "id": "}")"), CallState::complete);
  EXPECT_EQ(read(call, "}"), CallState::closed);
  EXPECT_EQ(call.take_arguments(), R"({"a": [{}, "}\"]"]})");
  EXPECT_EQ(call.take_arguments(), "");
}

TEST(JsonCall, TakesItsFieldsInAnyOrderAmongOthers) {
  JsonCall call;
  EXPECT_EQ(read(call, R"( {"type" : "function", "n": {"a": [1, 2]}, "x":-1.5 , "parameters": {"a": 1}, "y": null, "name": )"),
            CallState::opening);
  EXPECT_EQ(read(call, R"("get\u005fit")"), CallState::complete);
  EXPECT_EQ(read(call, " }"), CallState::closed);
  EXPECT_EQ(call.name(), "get_it");
  EXPECT_EQ(call.take_arguments(), R"({"a": 1})");
}

TEST(JsonCall, IsNoneWithoutANameOrAnObjectOfArguments) {
  for (const std::string_view text :
       {"[", "{}", "{x", "{\"name\" \"", "{\"name\": 7", "{\"name\": \"\"", "{\"name\": \"a\\x\"", "{\"name\": \"f\"}",
        "{\"name\": \"f\", \"arguments\": \"{}\"}", "{\"arguments\": {}}", "{\"arguments\": {} \"", "{\"a\": 1]"}) {
    JsonCall call;
    EXPECT_EQ(read(call, text), CallState::none) << text;
    EXPECT_EQ(read(call, "{"), CallState::none) << text;
  }
}

TEST(JsonCall, FollowsArgumentsOfAnyDepthByTheirBracketsAlone) {
  const std::string deep(100'000, '{'), closing(99'999, ']');
  JsonCall call;
  EXPECT_EQ(read(call, R"({"name": "f", "arguments": )" + deep + closing), CallState::begun);
  EXPECT_EQ(read(call, "}"), CallState::complete);
  EXPECT_EQ(call.take_arguments(), deep + closing + "}");
}

}  // namespace
}  // namespace slipstream
