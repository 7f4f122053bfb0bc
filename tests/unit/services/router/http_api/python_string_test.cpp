#include "services/router/http_api/python_string.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

// The JSON of a literal, and what follows it.
std::pair<std::string, std::string> json_of(std::string_view literal) {
  PythonString string(literal.front());
  std::string json;
  size_t at = 1;
  while (at < literal.size() && !string.ended() && string.read(literal[at], json)) ++at;
  return {json, std::string(literal.substr(at))};
}

TEST(PythonString, IsWrittenAsJson) {
  for (const auto& [literal, json] : {
           std::pair(R"("Paris")", R"("Paris")"),
           std::pair(R"('Paris')", R"("Paris")"),
           std::pair(R"('say "hi"')", R"("say \"hi\"")"),
           std::pair(R"('it\'s \"so\"')", R"("it's \"so\"")"),
           std::pair(R"('a\\b\n\t\a\v\0\101\x41\u00e9')", R"("a\\b\n\t\u0007\u000b\u0000\u0041\u0041\u00e9")"),
           std::pair(R"('\U0001F600 \d \N \xZ \U99999999 \18')", R"("\ud83d\ude00 \\d \\N \\xZ \\U99999999 \u00018")"),
           std::pair("'a\\\nb\tc'", R"("ab\u0009c")"),
           std::pair("'''one\n'two' \"three\" '''", R"("one\n'two' \"three\" ")"),
           std::pair(R"("""a""b""")", R"("a\"\"b")"),
           std::pair(R"("é")", R"("é")"),
           std::pair(R"("\x4")", R"("\\x4")"),
       }) {
    EXPECT_EQ(json_of(literal), std::pair(std::string(json), std::string())) << literal;
  }
}

TEST(PythonString, EndsWithItsQuotes) {
  EXPECT_EQ(json_of("'', 1"), (std::pair<std::string, std::string>("\"\"", ", 1")));
  EXPECT_EQ(json_of("'a', 1"), (std::pair<std::string, std::string>("\"a\"", ", 1")));
  EXPECT_EQ(json_of("'''a''', 1"), (std::pair<std::string, std::string>("\"a\"", ", 1")));
}

}  // namespace
}  // namespace slipstream
