// Each role is killed, or frozen for a while, at random moments under eight streams. No token is
// lost, doubled or changed, and the longest pause of a stream is measured. KillMatrixLong covers
// 50 moments (`make check`); KillMatrix covers a few.
#include <csignal>
#include <random>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using std::chrono::milliseconds;

constexpr int kTokens = 150;

class Matrix {
 public:
  explicit Matrix(int moments) : moments_(moments) {
    cluster_.start_router({"--lease-ms", "1000"});
    for (const char* name : {"verifier", "verifier-2"}) cluster_.start_verifier({"--threads", "1"}, name);
    for (const char* name : {"drafter", "drafter-2"}) cluster_.start_drafter({}, name);
    for (const char* name : {"verifier", "verifier-2", "drafter", "drafter-2"}) cluster_.wait_ports(name);
    await_all();
  }

  void run() {
    Load load(cluster_, eight_questions(kTokens));
    await_answers(load, 16);
    fmt::print("{:<10} {:<8} {:>8} {:>8} {:>6} {:>16}\n", "role", "signal", "moments", "answers", "cut", "longest pause");
    row("nobody", "none", load.report(), 0);
    for (const std::string role : {"drafter", "verifier", "router"}) {
      for (const int signal : {SIGKILL, SIGSTOP}) strike(load, role, signal);
    }
  }

 private:
  void strike(Load& load, const std::string& role, int signal) {
    for (int moment = 0; moment < moments_; ++moment) {
      const std::string victim = role != "router" && moment % 2 == 1 ? role + "-2" : role;
      std::this_thread::sleep_for(between(0, 200));  // the moment
      if (signal == SIGKILL) {
        cluster_.kill(victim, SIGKILL);
        if (role == "router") cluster_.start_router({"--lease-ms", "1000"});
        if (role == "verifier") cluster_.start_verifier({"--threads", "1"}, victim);
        if (role == "drafter") cluster_.start_drafter({}, victim);
        cluster_.wait_ports(victim);
      } else {
        cluster_.process(victim).signal(SIGSTOP);
        std::this_thread::sleep_for(moment % 8 == 7 ? milliseconds(3000) : between(1, 600));  // also past every timeout
        cluster_.process(victim).signal(SIGCONT);
      }
      await_all();
      await_answers(load, 2);
    }
    const LoadReport report = load.report();
    row(role, signal == SIGKILL ? "KILL" : "STOP", report, moments_);
    EXPECT_TRUE(report.wrong.empty()) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_GT(report.answers, 0);
    EXPECT_TRUE(role == "router" || report.cut == 0) << fmt::format("{}", fmt::join(report.errors, "\n"));
  }

  static void row(const std::string& role, const char* signal, const LoadReport& report, int moments) {
    fmt::print("{:<10} {:<8} {:>8} {:>8} {:>6} {:>13.0f} ms\n", role, signal, moments, report.answers, report.cut,
               report.longest_pause_s * 1000);
    std::fflush(stdout);
  }

  // Two verifiers and two drafters that have all joined the router.
  void await_all() {
    cluster_.wait("all to be there", [this] {
      const auto reply = cluster_.client().get("/ready");
      return reply && reply->body.find(R"("drafters":2)") != std::string::npos &&
             reply->body.find(R"("verifiers":2)") != std::string::npos;
    });
  }
  void await_answers(Load& load, int count) {
    const int before = load.answers();
    cluster_.wait("answers", [&] { return load.answers() >= before + count; });
  }
  milliseconds between(int least, int most) { return milliseconds(std::uniform_int_distribution(least, most)(random_)); }

  const int moments_;
  std::mt19937 random_{20261121};
  Cluster cluster_{tiny_model()};
};

TEST(KillMatrix, ChangesNoWord) { Matrix(2).run(); }

TEST(KillMatrixLong, ChangesNoWord) { Matrix(50).run(); }

}  // namespace
}  // namespace slipstream::e2e
