#include "tools/slipstream/supervisor.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

class SupervisorTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(log_); }
  Command shell(const std::string& line) { return {"/bin/sh", {"-c", line}, {}, log_}; }
  template <class F>
  bool eventually(F condition, std::chrono::milliseconds at_most = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    while (!condition() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
  }
  std::string logged() const {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
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
  EXPECT_TRUE(eventually([&] { return logged().ends_with("\nsecond\n"); }));
}

TEST_F(SupervisorTest, SaysThatAProcessIsBackOnlyOnceItIsReady) {
  std::atomic<pid_t> ready = -1;
  std::atomic<int> looks = 0;
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("slow", shell("exec sleep 100"), [&](pid_t pid) { return ++looks, pid == ready; }));
  supervisor.signal("slow", SIGKILL);
  ASSERT_TRUE(eventually([&] { return looks >= 3; }));
  EXPECT_EQ(said().find("is back"), std::string::npos) << said();
  const pid_t pid = ready = supervisor.life("slow").pid;
  ASSERT_TRUE(eventually([&] { return said().find("slow is back") != std::string::npos; }));
  EXPECT_NE(said().find("slow is back (pid " + std::to_string(pid) + ")\n"), std::string::npos) << said();
}

TEST_F(SupervisorTest, NeverSaysThatWhoDiesBeforeItIsReadyIsBack) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("dying", shell("exit 1"), [](pid_t) { return false; }));
  ASSERT_TRUE(eventually([&] { return said().find("again in 0.8 s") != std::string::npos; }));
  EXPECT_EQ(said().find("is back"), std::string::npos) << said();
}

TEST_F(SupervisorTest, SaysWhyAProcessFailed) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("failing", shell("echo loading; echo no room for me >&2; exit 3")));
  ASSERT_TRUE(eventually([&] { return said().find("failing exited") != std::string::npos; }));
  EXPECT_NE(said().find("failing exited with status 3: no room for me; it starts again in 0.2 s"), std::string::npos) << said();
  EXPECT_TRUE(eventually([&] { return supervisor.life("failing").why == "no room for me"; }));
}

TEST_F(SupervisorTest, SaysNothingOldOfALifeThatSaidNothing) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("failing", shell("echo the first; exit 3")));
  supervisor.next_life("failing", shell("exit 4"));
  ASSERT_TRUE(eventually([&] { return said().find("exited with status 4") != std::string::npos; }));
  EXPECT_NE(said().find("exited with status 4; it starts again"), std::string::npos) << said();
}

TEST_F(SupervisorTest, TellsWhatAServiceWarnsOf) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(
      supervisor.start("sleeper", shell("echo '2026-11-22T01:54:48.356 warning sleeper: little room'; exec sleep 100")));
  EXPECT_TRUE(eventually([&] { return said().find("sleeper warns: little room\n") != std::string::npos; }));
}

TEST_F(SupervisorTest, NotesInTheLogHowEachLifeEnded) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("sleeper", shell("exec sleep 100")));
  supervisor.signal("sleeper", SIGKILL);
  ASSERT_TRUE(eventually([&] { return said().find("sleeper is back") != std::string::npos; }));
  EXPECT_EQ(logged(), "slipstream: the sleeper was killed by signal 9 (Killed)\n");
}

TEST_F(SupervisorTest, NotesInJsonInALogThatHasIt) {
  Supervisor supervisor(say_);
  Command silent = shell("exec sleep 100");
  silent.json = true;
  ASSERT_TRUE(supervisor.start("silent", silent));
  supervisor.signal("silent", SIGKILL);
  ASSERT_TRUE(eventually([&] { return said().find("silent is back") != std::string::npos; }));
  EXPECT_EQ(logged().front(), '{') << logged();
}

TEST_F(SupervisorTest, TriesAgainWhatCannotBeStartedAnyMore) {
  const std::filesystem::path program = log_.string() + "-program";
  std::filesystem::copy_file("/bin/sleep", program, std::filesystem::copy_options::overwrite_existing);
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("sleeper", {program, {"100"}, {}, log_}));
  std::filesystem::remove(program);
  supervisor.signal("sleeper", SIGKILL);
  ASSERT_TRUE(eventually([&] { return said().find("No such file or directory; tried again in 5.0 s") != std::string::npos; }))
      << said();
  std::filesystem::copy_file("/bin/sleep", program);
  EXPECT_TRUE(eventually([&] { return said().find("sleeper is back") != std::string::npos; }));
  std::filesystem::remove(program);
}

TEST_F(SupervisorTest, RefusesWhatCannotBeRun) {
  Supervisor supervisor(say_);
  const auto started = supervisor.start("nobody", {"/no/such/program", {}, {}, log_});
  ASSERT_FALSE(started);
  EXPECT_EQ(supervisor.life("nobody").starts, 0);
}

TEST_F(SupervisorTest, LetsOneEndByItselfAndNeverStartsItAgain) {
  Supervisor supervisor(say_);
  ASSERT_TRUE(supervisor.start("other", shell("exec sleep 100")));
  ASSERT_TRUE(supervisor.start("slow", shell("trap 'echo told; wait; exit 0' TERM; sleep 1 & echo up; wait")));
  ASSERT_TRUE(eventually([&] { return logged() == "up\n"; }));
  supervisor.retire("slow");
  EXPECT_FALSE(supervisor.await_end("slow", std::chrono::milliseconds(1)));
  EXPECT_TRUE(supervisor.await_end("slow", std::chrono::seconds(20)));
  EXPECT_EQ(logged(), "up\ntold\nslipstream: the slow exited with status 0\n");
  EXPECT_FALSE(eventually([&] { return supervisor.life("slow").starts > 1; }, 2 * kRestartPauseMin));
  ASSERT_TRUE(supervisor.start("later", shell("exec sleep 100"))) << "which looks at all, too";
  EXPECT_EQ(supervisor.life("slow").starts, 1);
  EXPECT_GT(supervisor.life("other").pid, 0) << "the others go on";
  EXPECT_EQ(said(), "") << "it did what it was told";
  supervisor.retire("nobody");
  EXPECT_TRUE(supervisor.await_end("nobody", std::chrono::seconds(20)));
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
