// A process that hangs, or whose compute job does, says so on /health, and `slipstream serve`
// starts it again.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <sstream>

#include <gtest/gtest.h>

#include "common/http/stuck_status.h"
#include "common/runtime/compute_thread.h"
#include "tests/e2e/support/frozen_thread.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

constexpr const char* kCompute = ComputeThread<int, int>::kName;

TEST(HungJob, IsToldByHealthUntilItEnds) {
  Cluster cluster(tiny_model());
  cluster.start_router();
  cluster.start_verifier({"--job-stuck-ms", "1000"});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  const auto health = [&] { return cluster.page("verifier", "/health"); };
  const Answer expected = cluster.ask(long_question(600));
  EXPECT_EQ(health().status, 200);

  int pieces = 0;
  bool forbidden = false;
  const Answer answer = cluster.ask(long_question(600), [&](const Piece&) {
    if (++pieces != 20) return;
    const auto frozen = FrozenThread::of(cluster.process("verifier").pid(), kCompute);
    forbidden = !frozen;
    if (forbidden) return;
    cluster.wait("a job that hangs to be told", [&] { return health().status == http::kStuckStatus; });
    EXPECT_NE(health().body.find("--job-stuck-ms 1000"), std::string::npos) << health().body;
  });
  if (forbidden) GTEST_SKIP() << "this machine forbids to trace processes";
  EXPECT_EQ(answer.ids, expected.ids);
  cluster.wait("the verifier to be healthy again", [&] { return health().status == 200; });
}

class HungServiceLong : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(config_) << "[verifier]\njob-stuck-ms = 1000\n";
    const std::filesystem::path slipstream = std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "tools/slipstream/slipstream";
    auto started = Process::start({slipstream,
                                   {"serve", "--port", "0", "--model", tiny_model().string(), "--run-folder", folder_.string(),
                                    "--config", config_.string()},
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
  std::filesystem::path config_ = folder_ / "serve.ini";
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

TEST_F(HungServiceLong, ServeStartsAVerifierAgainWhoseJobHangs) {
  const pid_t hung = pid("verifier");
  auto frozen = FrozenThread::of(hung, kCompute);
  if (!frozen) GTEST_SKIP() << "this machine forbids to trace processes";
  const auto port = command::read_ports(folder_ / "ports" / ("serve-" + std::to_string(serve_->pid()) + "-router.json"))->http;
  auto reply = std::async(std::launch::async, [port] {
    return http::Client("127.0.0.1", port, 2 * kWaitMax)
        .post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8})");
  });
  wait("the sentence",
       "the verifier (pid " + std::to_string(hung) + ") hangs: it was stuck in each of the last 20 looks, and it says: ");
  wait("the reason", "(--job-stuck-ms 1000); it is killed");
  frozen.reset();
  wait("the next life", "verifier is back");
  EXPECT_NE(pid("verifier"), hung);
  EXPECT_EQ(reply.get().value().status, 200) << "the next life answers it";
}

}  // namespace
}  // namespace slipstream::e2e
