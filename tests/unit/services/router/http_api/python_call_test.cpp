#include "services/router/http_api/python_call.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

CallState read(PythonCall& call, std::string_view text) {
  CallState state = CallState::opening;
  for (const char next : text) state = call.read(next);
  return state;
}

TEST(PythonCall, BeginsWithTheNameOfAnArgumentOrItsEnd) {
  PythonCall call;
  EXPECT_EQ(read(call, "get.weather-1(city"), CallState::opening);
  EXPECT_EQ(read(call, "="), CallState::begun);
  EXPECT_EQ(call.name(), "get.weather-1");
  EXPECT_EQ(call.take_arguments(), "{\"city\": ");
  EXPECT_EQ(read(call, "'Pa"), CallState::begun);
  EXPECT_EQ(call.take_arguments(), "\"Pa");
  EXPECT_EQ(read(call, "ris'"), CallState::begun);
  EXPECT_EQ(read(call, ")"), CallState::closed);
  EXPECT_EQ(call.take_arguments(), "ris\"}");

  PythonCall empty;
  EXPECT_EQ(read(empty, "now( )"), CallState::closed);
  EXPECT_EQ(empty.take_arguments(), "{}");
}

TEST(PythonCall, HasItsArgumentsAsJson) {
  for (const auto& [text, json] : {
           std::pair("f(a=1, b=-2.5e3,c=True, d=False, e=None)", R"({"a": 1, "b": -2.5e3,"c": true, "d": false, "e": null})"),
           std::pair("f( a = 'x' , b=[1, 'y', (2, 3)] )", R"({ "a":  "x" , "b": [1, "y", [2, 3]]})"),
           std::pair("f(a={'k': {'l': []}, 'm': ')'}, )", R"j({"a": {"k": {"l": []}, "m": ")"}})j"),
           std::pair("f(a=(1,), b='', c=[1, 2,\n])", R"({"a": [1], "b": "", "c": [1, 2]})"),
           std::pair("f(a=true, b=null)", R"({"a": true, "b": null})"),
       }) {
    PythonCall call;
    EXPECT_EQ(read(call, text), CallState::closed) << text;
    EXPECT_EQ(call.take_arguments(), json) << text;
  }
}

TEST(PythonCall, KeepsWhatIsNoJsonAsItIs) {
  for (const auto& [text, json] : {
           std::pair("f(a=1, 'x', y)", R"({"a": 1, "x", y})"),
           std::pair("f(a=g + 2)", R"({"a": g + 2})"),
           std::pair("f(a=1])", R"({"a": 1]})"),
       }) {
    PythonCall call;
    EXPECT_EQ(read(call, text), CallState::closed) << text;
    EXPECT_EQ(call.take_arguments(), json) << text;
  }
}

TEST(PythonCall, IsNoneWithoutNames) {
  for (const std::string_view text : {"(", "1(", "f]", "f (", "f('x'", "f(x)", "f(x y", "f(1", "f(a,", "f(=", "f+("}) {
    PythonCall call;
    EXPECT_EQ(read(call, text), CallState::none) << text;
  }
}

}  // namespace
}  // namespace slipstream
