#include "common/base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

// What `write` puts on stderr.
template <class Write>
std::string lines_of(Write write) {
  testing::internal::CaptureStderr();
  write();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, WritesTimeLevelServiceAndMessageOnOneLine) {
  log_start("tester", LogLevel::info);
  EXPECT_THAT(lines_of([] { log_info("{} of {}", 1, 2); }),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3} info    tester: 1 of 2\n"));
}

TEST(Log, LeavesOutWhatIsBelowItsLevel) {
  log_start("tester", LogLevel::warning);
  EXPECT_THAT(lines_of([] { log_info("quiet"); }), IsEmpty());
  EXPECT_THAT(lines_of([] { log_warning("careful"); }), HasSubstr("warning tester: careful"));
  EXPECT_THAT(lines_of([] { log_error("broken"); }), HasSubstr("error   tester: broken"));
  log_start("tester", LogLevel::off);
  EXPECT_THAT(lines_of([] { log_error("broken"); }), IsEmpty());
  log_start("tester", LogLevel::debug);
  EXPECT_THAT(lines_of([] { log_debug("detail"); }), HasSubstr("debug   tester: detail"));
}

TEST(Log, LetsNobodyForgeALine) {
  log_start("tester", LogLevel::info);
  EXPECT_THAT(lines_of([] { log_info("peer said {}", "a\nerror: b\x1b[31m"); }),
              HasSubstr("peer said a\\x0aerror: b\\x1b[31m\n"));
}

TEST(Log, LeavesBracesInArgumentsAlone) {
  log_start("tester", LogLevel::info);
  EXPECT_THAT(lines_of([] { log_info("{}", "{} and %v"); }), HasSubstr(": {} and %v\n"));
}

TEST(Log, KnowsItsLevelsByName) {
  EXPECT_EQ(log_level_from("debug"), LogLevel::debug);
  EXPECT_EQ(log_level_from("off"), LogLevel::off);
  EXPECT_EQ(log_level_from("loud"), std::nullopt);
}

TEST(Log, CutsALongLine) {
  log_start("tester", LogLevel::info);
  const std::string line = lines_of([] { log_info("{}", std::string(10'000, 'x')); });
  EXPECT_THAT(line, EndsWith("xxx...\n"));
  EXPECT_LE(line.size(), 4096U);
}

TEST(Log, WritesALineOfJsonInThatFormatWithItsFields) {
  log_start("tester", LogLevel::info, LogFormat::json);
  const std::array fields{LogField{"status", int64_t{200}}};
  const std::string line = lines_of([&] { log_line(LogLevel::warning, "a\nb {} %v", fields); });
  EXPECT_THAT(line, MatchesRegex(R"(\{"time":"[0-9T:.-]+Z","level":"warning","service":"tester","message":"a\\nb \{\} %v",)"
                                 R"("status":200\}
)"));
  log_start("tester", LogLevel::info);
}

TEST(Log, LeavesTheFieldsOutOfText) {
  log_start("tester", LogLevel::info);
  const std::array fields{LogField{"status", int64_t{200}}};
  EXPECT_THAT(lines_of([&] { log_line(LogLevel::info, "answered", fields); }), EndsWith(": answered\n"));
}

TEST(Log, KnowsItsFormatsByName) {
  EXPECT_EQ(log_format_from("json"), LogFormat::json);
  EXPECT_EQ(log_format_from("text"), LogFormat::text);
}

TEST(Log, GoesOnOverAFullDisk) {
  log_start("tester", LogLevel::info);
  const int saved = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY);
  dup2(full, STDERR_FILENO);
  for (int line = 0; line < 3; ++line) log_info("lost");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(full);
  EXPECT_THAT(lines_of([] { log_info("back"); }), EndsWith(": back\n"));
}

TEST(Log, TakesLinesFromManyThreads) {
  log_start("tester", LogLevel::info);
  const std::string text = lines_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int line = 0; line < 100; ++line) log_info("line");
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 400);
}

}  // namespace
}  // namespace slipstream
