#include "common/runtime/log_note.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string line_of(const Note& note, LogLevel level, LogFormat format = LogFormat::text) {
  log_start("tester", level, format);
  testing::internal::CaptureStderr();
  log_note(note);
  return testing::internal::GetCapturedStderr();
}

TEST(LogNote, TellsAWarningAsOneAndOtherNotesAsInfo) {
  EXPECT_THAT(line_of({.text = "odd", .warning = true}, LogLevel::info), HasSubstr("warning tester: odd\n"));
  EXPECT_THAT(line_of({.text = "new"}, LogLevel::info), HasSubstr("info    tester: new\n"));
}

TEST(LogNote, TellsDetailsAtTheLevelDebugOnly) {
  const Note detail{.text = "begins", .sequence = SequenceId{0xAB, 31}, .detail = true};
  EXPECT_THAT(line_of(detail, LogLevel::info), IsEmpty());
  EXPECT_THAT(line_of(detail, LogLevel::debug), HasSubstr("debug   tester: sequence 00000000000000ab1f: begins\n"));
}

TEST(LogNote, NamesTheSequenceInAFieldOfItsOwn) {
  const auto json =
      nlohmann::json::parse(line_of({.text = "begins", .sequence = SequenceId{0xAB, 31}}, LogLevel::info, LogFormat::json));
  EXPECT_EQ(json["sequence"], "00000000000000ab1f");
  EXPECT_EQ(json["message"], "sequence 00000000000000ab1f: begins");
  EXPECT_FALSE(nlohmann::json::parse(line_of({.text = "x"}, LogLevel::info, LogFormat::json)).contains("sequence"));
}

}  // namespace
}  // namespace slipstream
