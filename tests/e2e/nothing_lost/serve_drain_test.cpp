// `slipstream serve` that is told to stop finishes the answers that it gives.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include "tests/e2e/support/cluster.h"
#include "tests/unit/common/http/wire_client.h"

namespace slipstream::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHead = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class ServeDrain : public testing::Test {
 protected:
  ServeDrain() : folder_(std::filesystem::temp_directory_path() / ("slipstream-serve-drain-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ServeDrain() override {
    serve_.reset();
    if (asks_.joinable()) asks_.join();
    std::filesystem::remove_all(folder_);
  }

  // Starts it, and asks something that its verifier, which stands still, does not answer yet.
  void start_and_ask(std::vector<std::string> more = {}) {
    start(std::move(more));
    const auto verifier = pid_of("verifier");
    ASSERT_TRUE(verifier);
    verifier_ = *verifier;
    ::kill(verifier_, SIGSTOP);
    asks_ = std::jthread([this] {
      auto client = this->client();
      reply_ = client.post_stream("/v1/chat/completions",
                                  R"({"messages": [{"role": "user", "content": "abc"}], "max_tokens": 20, "stream": true})",
                                  [this](std::string_view data) { return events_ += std::string(data) + "\n", true; });
    });
    wait("the request", [&] {
      const auto page = client().get("/metrics");
      return page && page->body.find("\nslipstream_router_requests_live 1\n") != std::string::npos;
    });
  }
  void start(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"serve", "--port", "0", "--drafter", "none", "--model", tiny_model().string()};
    words.insert(words.end(), {"--run-folder", (folder_ / "run").string()});
    words.insert(words.end(), more.begin(), more.end());
    auto process =
        Process::start({std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "tools/slipstream/slipstream", words, {}, log()});
    ASSERT_TRUE(process) << process.error().message;
    serve_.emplace(*std::move(process));
    wait("serve to be ready", [&] { return said().find("ready: ") != std::string::npos; });
    const size_t colon = said().find(":", said().find("ready: http://") + 14);
    port_ = static_cast<uint16_t>(std::stoi(said().substr(colon + 1)));
  }
  // Tells it to stop, and returns what somebody who asks now is told.
  std::string told_to_stop() {
    serve_->signal(SIGTERM);
    wait("the router to close", [&] {
      const auto ready = client().get("/ready");
      return ready && ready->status == 503;
    });
    const auto late = client().post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "abc"}]})");
    return late ? late->body : late.error().message;
  }
  http::Client client() const { return {"127.0.0.1", port_, kWaitMax}; }
  std::optional<pid_t> pid_of(const std::string& service) const {
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "run/ports")) {
      if (!file.path().string().ends_with(service + ".json")) continue;
      if (const auto ports = command::read_ports(file.path())) return ports->pid;
    }
    return {};
  }
  void wait(const std::string& what, const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what << "\n" << said();
      ASSERT_FALSE(serve_->ended()) << what << "\n" << said();
      usleep(10'000);
    }
  }
  std::filesystem::path log() const { return folder_ / "log"; }
  std::string said() const { return contents(log()); }
  const std::optional<Result<http::Reply>>& reply() {
    asks_.join();
    return reply_;
  }

  std::filesystem::path folder_;
  std::optional<Process> serve_;
  uint16_t port_ = 0;
  pid_t verifier_ = -1;
  std::string events_;
  std::optional<Result<http::Reply>> reply_;
  std::jthread asks_;
};

TEST_F(ServeDrain, FinishesTheAnswersUnderWayAndTakesNoMore) {
  start_and_ask();
  EXPECT_THAT(told_to_stop(), HasSubstr("shutting_down"));
  EXPECT_THAT(said(), HasSubstr("stopping: answers under way may go on for 25 s (--drain-ms)"));
  ::kill(verifier_, SIGCONT);
  const auto exit = serve_->wait(kWaitMax);
  ASSERT_TRUE(exit) << said();
  EXPECT_EQ(exit->words(), "exited with status 0") << said();
  ASSERT_TRUE(*reply()) << reply_->error().message;
  EXPECT_THAT(events_, testing::EndsWith("[DONE]\n"));
  EXPECT_THAT(said(), Not(HasSubstr("starts again")));
  EXPECT_NE(::kill(verifier_, 0), 0);
}

TEST_F(ServeDrain, LetsAnswersGoOnForSoLongAndNoLonger) {
  start_and_ask({"--drain-ms", "300"});
  serve_->signal(SIGTERM);
  const auto exit = serve_->wait(kWaitMax);
  ASSERT_TRUE(exit) << said();
  EXPECT_EQ(exit->words(), "exited with status 0") << said();
  (void)reply();
  EXPECT_THAT(events_, Not(HasSubstr("[DONE]")));
  EXPECT_NE(::kill(verifier_, 0), 0);
}

TEST_F(ServeDrain, IsEndedAtOnceByASecondSignal) {
  start_and_ask({"--drain-ms", "3600000"});
  told_to_stop();
  serve_->signal(SIGINT);
  const auto exit = serve_->wait(kWaitMax);
  ASSERT_TRUE(exit) << said();
  EXPECT_EQ(exit->signal, SIGINT);
  (void)reply();
  const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
  while (::kill(verifier_, 0) == 0 && std::chrono::steady_clock::now() < deadline) usleep(10'000);
  EXPECT_NE(::kill(verifier_, 0), 0);
}

TEST_F(ServeDrain, EndsSoonWhereNobodyIsAnswered) {
  start({"--drain-ms", "3600000"});
  serve_->signal(SIGINT);
  const auto exit = serve_->wait(std::chrono::seconds(10));
  ASSERT_TRUE(exit) << said();
  EXPECT_EQ(exit->words(), "exited with status 0");
}

// A request that never comes whole held it for as long as answers may take.
TEST_F(ServeDrain, WaitsForTheRestOfARequestForAMomentOnly) {
  start({"--drain-ms", "3600000"});
  WireClient half(port_);
  half.send(std::string(kHead) + "Content-Length: 100\r\n\r\n{\"prompt\"");
  ASSERT_EQ(client().get("/version")->status, 200);  // by the thread that has read the half request by then
  serve_->signal(SIGTERM);
  EXPECT_THAT(half.all(), AllOf(HasSubstr("408"), HasSubstr("request_timeout"), HasSubstr("this server is stopping")));
  half.close();
  const auto exit = serve_->wait(std::chrono::seconds(10));
  ASSERT_TRUE(exit) << said();
  EXPECT_EQ(exit->words(), "exited with status 0");
}

}  // namespace
}  // namespace slipstream::e2e
