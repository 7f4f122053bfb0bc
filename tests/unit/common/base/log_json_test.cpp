#include "common/base/log_json.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

LogRecord record(std::string_view message, std::span<const LogField> fields = {}) {
  return {.time = std::chrono::sys_days(std::chrono::year(2026) / 2 / 3) + 4h + 5min + 6s + 78ms,
          .level = "info",
          .service = "router",
          .message = message,
          .fields = fields};
}

TEST(LogJson, HasTimeLevelServiceAndMessageInThisOrder) {
  EXPECT_EQ(json_line(record("1 of 2")),
            R"({"time":"2026-02-03T04:05:06.078Z","level":"info","service":"router","message":"1 of 2"})");
}

TEST(LogJson, AddsTheFieldsAsTextAndNumbers) {
  const std::array fields{LogField{"path", "/v1/\"x\""}, LogField{"status", int64_t{404}}};
  const Json json = Json::parse(json_line(record("m", fields)));
  EXPECT_EQ(json["path"], "/v1/\"x\"");
  EXPECT_EQ(json["status"], 404);
}

// Every byte alone, and bytes that begin a character or a line for some readers.
TEST(LogJson, IsOneLineOfValidAsciiWhateverAPeerSaid) {
  std::vector<std::string> texts{"\xE2\x80\xA8", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\",\"level\":\"error", "\\u", ""};
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  for (const std::string& text : texts) {
    const std::array fields{LogField{"path", text}};
    const std::string line = json_line(record("peer said " + text, fields));
    const auto plain = [](char c) { return c >= ' ' && static_cast<unsigned char>(c) < 0x80; };
    EXPECT_TRUE(std::ranges::all_of(line, plain)) << line;
    const Json json = Json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_EQ(json.size(), 5U) << line;
    EXPECT_EQ(json["level"], "info") << line;
  }
}

TEST(LogJson, KeepsWhatAPeerSaid) {
  EXPECT_EQ(message_of_json_line(json_line(record("a\nb \xE2\x82\xAC"))), "a\nb \xE2\x82\xAC");
}

TEST(LogJson, CutsLongTexts) {
  const std::string longest(kLogTextBytesMax, 'x'), longer = longest + "x";
  const std::array fields{LogField{"path", longer}};
  const Json json = Json::parse(json_line(record(longer, fields)));
  EXPECT_EQ(json["message"], longest.substr(3) + "...");
  EXPECT_EQ(json["path"], longest.substr(3) + "...");
  EXPECT_EQ(cut_for_log(longest), longest);
}

TEST(LogJson, FindsNoMessageInOtherLines) {
  for (const char* line : {"", "text", "{}", "[1]", R"({"message":1})", R"({"message":"x")"}) {
    EXPECT_EQ(message_of_json_line(line), "") << line;
  }
}

}  // namespace
}  // namespace slipstream
