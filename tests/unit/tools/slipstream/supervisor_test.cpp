#include "tools/slipstream/supervisor.h"

#include <unistd.h>

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

class SupervisorTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(log_); }
  Command shell(const std::string& line) { return {"/bin/sh", {"-c", line}, {}, log_}; }
  template <class F>
  bool eventually(F condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
  }
  std::string said() {
    std::lock_guard lock(mutex_);
    return said_;
  }
  Supervisor::Say say_ = [this](std::string_view line) {
    std::lock_guard lock(mutex_);
    said_.append(line).append("\n");
  };
  std::filesystem::path log_ = std::filesystem::temp_directory_path() / ("slipstream-supervisor-" + std::to_string(getpid()));
  std::mutex mutex_;
  std::string said_;
};

TEST_F(SupervisorTest, StartsAKilledProcessAgainAndSaysSo) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("sleeper", shell("exec sleep 100")));
  const pid_t first = supervisor.life("sleeper").pid;
  supervisor.signal("sleeper", SIGKILL);
  ASSERT_TRUE(eventually([&] { return supervisor.life("sleeper").starts == 2 && supervisor.life("sleeper").pid > 0; }));
  EXPECT_NE(supervisor.life("sleeper").pid, first);
  EXPECT_EQ(supervisor.life("sleeper").last->signal, SIGKILL);
  ASSERT_TRUE(eventually([&] { return said().find("sleeper is back") != std::string::npos; }));
  EXPECT_NE(said().find("sleeper was killed by signal 9 (Killed); it starts again in 0.2 s"), std::string::npos) << said();
}

TEST_F(SupervisorTest, PausesTwiceAsLongWhileAProcessKeepsDying) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("dying", shell("exit 1")));
  ASSERT_TRUE(eventually([&] { return said().find("again in 0.8 s") != std::string::npos; }));
  EXPECT_LT(said().find("again in 0.2 s"), said().find("again in 0.4 s"));
}

TEST_F(SupervisorTest, GivesTheNextLifeItsOwnCommand) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("changing", shell("exec sleep 100")));
  supervisor.next_life("changing", shell("echo second; exec sleep 100"));
  supervisor.signal("changing", SIGKILL);
  EXPECT_TRUE(eventually([&] {
    std::string line;
    return std::getline(std::ifstream(log_), line) && line == "second";
  }));
}

TEST_F(SupervisorTest, RefusesWhatCannotBeRun) {
  Supervisor supervisor(say_);
  const auto started = supervisor.start("nobody", {"/no/such/program", {}, {}, log_});
  ASSERT_FALSE(started);
  EXPECT_EQ(supervisor.life("nobody").starts, 0);
}

TEST_F(SupervisorTest, StopsAllAndWaitsForThem) {
  Supervisor supervisor(say_);
  std::vector<pid_t> pids;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(supervisor.start(name, shell("exec sleep 100")));
    pids.push_back(supervisor.life(name).pid);
  }
  supervisor.stop();
  for (pid_t pid : pids) EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(supervisor.start("late", shell("exec sleep 100")));
}

}  // namespace
}  // namespace slipstream::command
