// `slipstream serve` restarts a service that hangs.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

class HungServiceLong : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    const std::filesystem::path slipstream = std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "tools/slipstream/slipstream";
    auto started = Process::start({slipstream,
                                   {"serve", "--port", "0", "--model", tiny_model().string(), "--run-folder", folder_.string()},
                                   {},
                                   folder_ / "log"});
    ASSERT_TRUE(started) << started.error().message;
    serve_.emplace(*std::move(started));
    wait("serve to be ready", "ready: ");
  }
  void TearDown() override {
    serve_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "log").rdbuf();
    return text.str();
  }
  void wait(const std::string& what, const std::string& words) const {
    const auto deadline = std::chrono::steady_clock::now() + 2 * kWaitMax;
    while (log().find(words) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what << "\n" << log();
      usleep(10'000);
    }
  }
  pid_t pid(const std::string& service) const {
    const std::string file = "serve-" + std::to_string(serve_->pid()) + "-" + service + ".json";
    return command::read_ports(folder_ / "ports" / file)->pid;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("slipstream-hang-" + std::to_string(getpid()));
  std::optional<Process> serve_;
};

TEST_F(HungServiceLong, ServeStartsAStoppedServiceAgain) {
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const pid_t hung = pid(service);
    ::kill(hung, SIGSTOP);
    wait("the sentence", "the " + service + " (pid " + std::to_string(hung) + ") hangs: ");
    wait("the next life", service + " is back");
    EXPECT_NE(pid(service), hung);
  }
}

}  // namespace
}  // namespace slipstream::e2e
