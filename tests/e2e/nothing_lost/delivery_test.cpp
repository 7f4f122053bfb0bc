// A verifier that is much faster than its router keeps what it cannot send. It drops nothing at
// a full socket.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

TEST(Delivery, FillsNoSocketWhileTheRouterStandsStill) {
  constexpr std::chrono::milliseconds kStill{400};  // some thousand steps of the tiny model
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  {
    Load load(cluster, eight_questions(600));
    for (int round = 0; round < 3; ++round) {
      const int before = load.answers();
      cluster.wait("answers", [&] { return load.answers() >= before + 8; });
      cluster.process("router").signal(SIGSTOP);
      std::this_thread::sleep_for(kStill);
      cluster.process("router").signal(SIGCONT);
    }
    EXPECT_TRUE(load.report().wrong.empty());
  }
  const Samples router = cluster.metrics("router"), verifier = cluster.metrics("verifier");
  EXPECT_EQ(verifier.sum(metric::kNodeDropped.name, {R"(why="peer_full")"}), 0);
  EXPECT_EQ(router.sum(metric::kNodeDropped.name, {R"(why="peer_full")"}), 0);
  EXPECT_EQ(router.sum(metric::kRouterTokenFaults.name, {R"(kind="gap")"}), 0);
}

}  // namespace
}  // namespace slipstream::e2e
