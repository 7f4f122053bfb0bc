// Every process is stopped and started again, one after the other, under load, and no request
// fails. There are two routers, as behind a load balancer, two verifiers and two drafters.
// RollingRestartLong makes a hundred restarts (`make check`).
#include <csignal>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

constexpr int kTokens = 150;

class Rollout {
 public:
  Rollout() {
    for (const char* name : {"router", "router-2"}) cluster_.start_router({}, name);
    for (const char* name : {"verifier", "verifier-2", "drafter", "drafter-2"}) start(name);
    await_all();
  }

  void run(int restarts) {
    Load load(cluster_, eight_questions(kTokens), {"router", "router-2"});
    const std::vector<std::string> order{"router", "verifier", "drafter", "router-2", "verifier-2", "drafter-2"};
    for (int i = 0; i < restarts; ++i) {
      const std::string& name = order[static_cast<size_t>(i) % order.size()];
      cluster_.process(name).signal(SIGTERM);
      const auto exit = cluster_.process(name).wait(kWaitMax);
      ASSERT_TRUE(exit) << name << " does not end";
      EXPECT_EQ(exit->words(), "exited with status 0") << name;
      start(name);
      await_all();
      const int before = load.answers();
      cluster_.wait("answers", [&] { return load.answers() > before; });
    }
    const LoadReport report = load.report();
    fmt::print("{} restarts: {} answers, {} failed, {} turned away and taken by the other router; longest pause {:.0f} ms\n",
               restarts, report.answers, report.cut, report.turned_away, report.longest_pause_s * 1000);
    EXPECT_TRUE(report.wrong.empty()) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_EQ(report.cut, 0) << fmt::format("{}", fmt::join(report.errors, "\n"));
    EXPECT_GT(report.answers, restarts);
  }

 private:
  void start(const std::string& name) {
    if (name.starts_with("router")) return cluster_.start_router({}, name);
    name.starts_with("verifier") ? cluster_.start_verifier({"--threads", "1"}, name) : cluster_.start_drafter({}, name);
    cluster_.wait_ports(name);
  }

  void await_all() {
    for (const char* router : {"router", "router-2"}) {
      cluster_.wait("all to be there", [&] {
        const auto reply = cluster_.client(router).get("/ready");
        return reply && reply->body.find(R"("drafters":2)") != std::string::npos &&
               reply->body.find(R"("verifiers":2)") != std::string::npos;
      });
    }
  }

  Cluster cluster_{tiny_model()};
};

TEST(RollingRestart, FailsNoRequest) { Rollout().run(6); }

TEST(RollingRestartLong, FailsNoRequest) { Rollout().run(100); }

}  // namespace
}  // namespace slipstream::e2e
