#include "tools/slipstream/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

class ProcessTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(log_); }
  Command shell(const std::string& line) { return {"/bin/sh", {"-c", line}, {}, log_}; }
  std::string logged() const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }
  std::filesystem::path log_ = std::filesystem::temp_directory_path() / ("slipstream-process-" + std::to_string(getpid()));
  static constexpr std::chrono::seconds kLong{20};
};

TEST_F(ProcessTest, TellsHowAProcessEnded) {
  auto process = Process::start(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(process);
  const auto exit = process->wait(kLong);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->words(), "exited with status 3");
  EXPECT_EQ(logged(), "out\nerr\n");
}

TEST_F(ProcessTest, TellsWhichSignalKilledIt) {
  auto process = Process::start(shell("exec sleep 100"));
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->ended());
  process->signal(SIGKILL);
  const auto exit = process->wait(kLong);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->words(), "was killed by signal 9 (Killed)");
}

TEST_F(ProcessTest, SaysThatAProgramIsNotThere) {
  const auto process = Process::start({"/no/such/program", {}, {}, log_});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "cannot run /no/such/program: No such file or directory");
}

TEST_F(ProcessTest, PutsItsOwnEnvironmentFirst) {
  ::setenv("SLIPSTREAM_PROCESS_TEST", "outer", 1);
  Command command = shell("echo $SLIPSTREAM_PROCESS_TEST");
  command.environment = {"SLIPSTREAM_PROCESS_TEST=inner"};
  auto process = Process::start(command);
  ASSERT_TRUE(process && process->wait(kLong));
  EXPECT_EQ(logged(), "inner\n");
}

// As after `trap '' CHLD; exec slipstream serve`: the kernel would reap the children itself.
TEST_F(ProcessTest, TellsHowAProcessEndedThoughItsOwnParentIgnoresChildren) {
  ::signal(SIGCHLD, SIG_IGN);
  auto process = Process::start({"/bin/true", {}, {}, log_});
  ASSERT_TRUE(process);
  const auto exit = process->wait(kLong);
  ::signal(SIGCHLD, SIG_DFL);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->words(), "exited with status 0");
}

TEST_F(ProcessTest, HasEndedThoughSomebodyElseReapedIt) {
  auto process = Process::start(shell("exit 3"));
  ASSERT_TRUE(process);
  ASSERT_EQ(::waitpid(process->pid(), nullptr, 0), process->pid());
  process->signal(SIGKILL);  // reaches nobody
  const auto exit = process->wait(kLong);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->words(), "ended, and somebody else was told how");
}

TEST_F(ProcessTest, LeavesNothingBehind) {
  pid_t pid = 0;
  {
    auto process = Process::start(shell("exec sleep 100"));
    ASSERT_TRUE(process);
    pid = process->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace slipstream::command
