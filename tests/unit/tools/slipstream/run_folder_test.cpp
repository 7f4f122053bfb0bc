#include "tools/slipstream/run_folder.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "common/base/log_json.h"
#include "common/config/port_file.h"

namespace slipstream::command {
namespace {

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
  note_in_log(log_, "ours");
  EXPECT_EQ(last_sentence(log_, 0), "slipstream: ours");
  EXPECT_EQ(log_size(log_), 25U);
}

TEST_F(ServiceLog, TellsTheMessageOfALastLineOfJson) {
  write(R"({"time":"2026-11-22T01:54:48.356Z","level":"error","service":"router","message":"cannot write x: no space"})"
        "\n");
  EXPECT_EQ(last_sentence(log_, 0), "cannot write x: no space");
}

TEST_F(ServiceLog, TakesALineOfTheSupervisorsInTheFormatOfTheOthers) {
  write(R"({"time":"2026-11-22T01:54:48.356Z","level":"info","service":"router","message":"its own"})"
        "\n");
  note_in_log(log_, "ours");
  std::ifstream log(log_);
  std::string line;
  std::getline(log, line);
  std::getline(log, line);
  EXPECT_EQ(message_of_json_line(line), "ours") << line;
}

TEST(Ports, ReadsWhatAServiceWrote) {
  const auto file = std::filesystem::temp_directory_path() / ("slipstream-ports-" + std::to_string(getpid()));
  EXPECT_FALSE(read_ports(file));
  ASSERT_TRUE(write_port_file(file.string(), {{"http", "127.0.0.1:8081"}, {"bind", "tcp://127.0.0.1:7301"}}));
  const auto ports = read_ports(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(ports);
  EXPECT_EQ(ports->pid, getpid());
  EXPECT_EQ(ports->http, 8081);
  EXPECT_EQ(ports->bind, "tcp://127.0.0.1:7301");
  EXPECT_EQ(ports->metrics, 0);
}

}  // namespace
}  // namespace slipstream::command
