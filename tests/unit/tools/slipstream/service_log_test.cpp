#include "tools/slipstream/service_log.h"

#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/log_json.h"

namespace slipstream::command {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

class ServiceLog : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(log_); }
  void write(std::string_view text) { std::ofstream(log_, std::ios::app) << text; }
  std::filesystem::path log_ = std::filesystem::temp_directory_path() / ("slipstream-log-" + std::to_string(getpid()));
};

TEST_F(ServiceLog, TellsTheLastSentenceWithoutItsTimeLevelAndService) {
  write("2026-11-22T01:54:48.355 info    router: serving: all\n");
  write("2026-11-22T01:54:48.356 error   router: cannot write x (No space: left)\n");
  EXPECT_EQ(last_sentence(log_, 0), "cannot write x (No space: left)");
}

TEST_F(ServiceLog, FindsTheLastSentenceOfAKind) {
  write("2026-11-22T01:54:48.355 info    verifier: a step of 1 row takes 3 ms\n");
  write("2026-11-22T01:54:49.355 info    verifier: a step of 1 row takes 2 ms\n");
  write("2026-11-22T01:54:49.356 info    verifier: then a step of 9\n");
  EXPECT_EQ(sentence_that_begins(log_, "a step of "), "a step of 1 row takes 2 ms");
  EXPECT_EQ(sentence_that_begins(log_, "a leap of "), "");
  EXPECT_EQ(sentence_that_begins(log_.string() + "-missing", "a step of "), "");
}

TEST_F(ServiceLog, TakesOtherLinesWhole) {
  write("terminate called: for some reason\n\n");
  EXPECT_EQ(last_sentence(log_, 0), "terminate called: for some reason");
}

TEST_F(ServiceLog, PassesOverTheHintBehindBadSettings) {
  write("slipstream-router: --rules has \"best\", which is no rule\nRun with --help for every option\n");
  EXPECT_EQ(last_sentence(log_, 0), "slipstream-router: --rules has \"best\", which is no rule");
}

TEST_F(ServiceLog, LooksAtNothingBeforeItsBegin) {
  write("before\n");
  const uintmax_t begin = log_size(log_);
  EXPECT_EQ(begin, 7U);
  EXPECT_EQ(last_sentence(log_, begin), "");
  write("after\n");
  EXPECT_EQ(last_sentence(log_, begin), "after");
}

TEST_F(ServiceLog, ReadsOnlyTheEndOfALongLog) {
  write(std::string(1 << 20, 'x') + "\nlast\n");
  EXPECT_EQ(last_sentence(log_, 0), "last");
  EXPECT_EQ(last_sentence("/dev/full", 0), "");  // which never ends
}

TEST_F(ServiceLog, HasNothingBeforeItIsThere) {
  EXPECT_EQ(log_size(log_), 0U);
  EXPECT_EQ(last_sentence(log_, 0), "");
}

TEST_F(ServiceLog, TakesALineOfTheSupervisors) {
  write("its own\n");
  note_in_log(log_, "ours", false);
  EXPECT_EQ(last_sentence(log_, 0), "slipstream: ours");
  EXPECT_EQ(log_size(log_), 25U);
}

TEST_F(ServiceLog, TellsTheMessageOfALastLineOfJson) {
  write(R"({"time":"2026-11-22T01:54:48.356Z","level":"error","service":"router","message":"cannot write x: no space"})"
        "\n");
  EXPECT_EQ(last_sentence(log_, 0), "cannot write x: no space");
}

// Also where the service wrote none, or ended with a line of text.
TEST_F(ServiceLog, TakesALineOfTheSupervisorsInTheFormatOfTheOthers) {
  note_in_log(log_, "ours", true);
  std::ifstream log(log_);
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(message_of_json_line(line), "ours") << line;
}

TEST_F(ServiceLog, HasWarningsThatAreToldOnce) {
  write("2026-11-22T01:54:48.355 warning router: before its life\n");
  LogWarnings warnings(log_, log_size(log_));
  EXPECT_THAT(warnings.fresh(), IsEmpty());
  write("2026-11-22T01:54:48.355 info    router: a warning of rain\n");
  write("2026-11-22T01:54:48.356 warning router: the disk: nearly full\n");
  write(R"({"time":"2026-11-22T01:54:48.356Z","level":"warning","service":"router","message":"in JSON"})"
        "\n2026-11-22T01:54:48.357 warning router: not whole");
  EXPECT_THAT(warnings.fresh(), ElementsAre("the disk: nearly full", "in JSON"));
  write(" yet\n");
  EXPECT_THAT(warnings.fresh(), ElementsAre("not whole yet"));
  EXPECT_THAT(warnings.fresh(), IsEmpty());
}

TEST_F(ServiceLog, HasNoMoreWarningsThanOneReads) {
  LogWarnings warnings(log_, 0);
  for (size_t i = 0; i < kWarningsToldMax + 5; ++i) write("2026-11-22T01:54:48.356 warning router: again\n");
  const std::vector<std::string> told = warnings.fresh();
  ASSERT_EQ(told.size(), kWarningsToldMax);
  EXPECT_THAT(told.back(), EndsWith("further warnings are in its log"));
  write("2026-11-22T01:54:48.356 warning router: again\n");
  EXPECT_THAT(warnings.fresh(), IsEmpty());
}

}  // namespace
}  // namespace slipstream::command
