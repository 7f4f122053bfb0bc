#include "common/base/stop_signal.h"

#include <condition_variable>
#include <csignal>
#include <mutex>

#include <unistd.h>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(StopSignal, TurnsSigtermIntoAStopRequest) {
  StopSignal stop;
  std::mutex mutex;
  std::condition_variable heard;
  bool stopped = false;
  const std::stop_callback callback(stop.token(), [&] {
    const std::lock_guard lock(mutex);
    stopped = true;
    heard.notify_all();
  });
  ::kill(::getpid(), SIGTERM);
  std::unique_lock lock(mutex);
  EXPECT_TRUE(heard.wait_for(lock, std::chrono::seconds(20), [&] { return stopped; }));
}

TEST(StopSignal, ArrivedWaitsForTheSignal) {
  StopSignal stop{SIGHUP};
  EXPECT_FALSE(stop.arrived(std::chrono::milliseconds(1)));
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(stop.arrived(std::chrono::seconds(20)));
  EXPECT_TRUE(stop.arrived(std::chrono::milliseconds(0))) << "once and for ever";
}

TEST(StopSignal, LetsFailedWritesSpeakForThemselves) {
  ::signal(SIGXFSZ, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  const StopSignal stop;
  ::raise(SIGXFSZ);  // would end this process
  ::raise(SIGPIPE);
  EXPECT_FALSE(stop.token().stop_requested());
}

}  // namespace
}  // namespace slipstream
