#include "common/base/log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

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

TEST(Log, GoesOnOverAFullDiskAndSaysWhatWasLost) {
  log_start("tester", LogLevel::info);
  const uint64_t before = log_lines_lost();
  const int saved = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY);
  dup2(full, STDERR_FILENO);
  for (int line = 0; line < 3; ++line) log_info("lost");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(full);
  EXPECT_EQ(log_lines_lost(), before + 3);
  EXPECT_THAT(lines_of([] { log_info("back"); }),
              AllOf(HasSubstr(": back\n"),
                    HasSubstr("warning tester: 3 lines before this one could not be written (No space left on device)")));
  EXPECT_THAT(lines_of([] { log_info("again"); }), Not(HasSubstr("before this")));
}

// A pipe whose reader does not read. Without a look whether it takes a line this test does not end.
TEST(Log, WaitsForNoReader) {
  log_start("tester", LogLevel::info);
  const uint64_t before = log_lines_lost();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 8192), 8192);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  for (int line = 0; line < 5; ++line) log_info("{}", std::string(10'000, 'x'));
  EXPECT_EQ(log_lines_lost(), before + 3) << "a page each";
  std::string text(100'000, ' ');
  const ssize_t size = read(ends[0], text.data(), text.size());
  EXPECT_GT(size, 3900);
  EXPECT_EQ(text.substr(static_cast<size_t>(size) - 4, 4), "...\n");
  log_info("back");
  dup2(saved, STDERR_FILENO);
  text.resize(static_cast<size_t>(read(ends[0], text.data(), text.size())));
  EXPECT_THAT(text, AllOf(HasSubstr(": back\n"), HasSubstr("3 lines before this one could not be written (nobody read them)")));
  for (int end : {saved, ends[0], ends[1]}) close(end);
}

TEST(Log, CountsTheLinesBeyondTheLimitOnItsSize) {
  log_start("tester", LogLevel::info);
  const uint64_t before = log_lines_lost();
  ::signal(SIGXFSZ, SIG_IGN);  // as runtime/stop_signal.h does
  std::FILE* const file = std::tmpfile();
  const int saved = dup(STDERR_FILENO);
  rlimit free_size{};
  getrlimit(RLIMIT_FSIZE, &free_size);
  const rlimit small{100, free_size.rlim_max};
  dup2(fileno(file), STDERR_FILENO);
  setrlimit(RLIMIT_FSIZE, &small);
  for (int line = 0; line < 5; ++line) log_info("each line of these has more than 40 bytes");
  setrlimit(RLIMIT_FSIZE, &free_size);
  dup2(saved, STDERR_FILENO);
  close(saved);
  EXPECT_EQ(log_lines_lost(), before + 4);
  EXPECT_EQ(lseek(fileno(file), 0, SEEK_END), 100);
  std::fclose(file);
  EXPECT_THAT(lines_of([] { log_info("back"); }), HasSubstr("4 lines before this one could not be written (File too large)"));
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
