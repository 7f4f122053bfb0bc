// More requests than a router takes: the rest is refused with 429, and every one that was taken is
// answered.
#include <csignal>

#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "tests/e2e/support/load_command.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

TEST(Overload, IsRefusedWith429AndAnswersWhatWasTaken) {  // by number: none is refused for its expected wait
  constexpr int kSequences = 96;                          // more than a CPU's verifier takes if nobody says how many
  constexpr int kTaken = kSequences + kRequestsWaitingMax;
  constexpr int kBurst = kTaken + 80;
  Cluster cluster(tiny_model());
  cluster.start_router();
  cluster.start_verifier({"--sequences", std::to_string(kSequences)});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  // While the verifier stands still, no answer makes room for another request.
  cluster.process("verifier").signal(SIGSTOP);
  const std::string burst = std::to_string(kBurst);
  LoadCommand load(cluster, {"--rate", "1000", "--arrivals", "bursts", "--burst", burst, "--requests", burst, "--in-flight",
                             burst, "--max-tokens", "8"});
  const auto refused = [&] { return cluster.metrics("router").sum(metric::kRouterRequests.name, {R"(outcome="queue_full")"}); };
  cluster.wait("the router to refuse all that it has no room for", [&] { return refused() >= kBurst - kTaken; });
  cluster.process("verifier").signal(SIGCONT);
  EXPECT_EQ(load.wait(), 0) << load.said();
  const json run = load.report()["runs"][0];
  const json& requests = run["requests"];
  EXPECT_EQ(requests["all"], kBurst);
  EXPECT_EQ(requests["refused_429"].get<int>(), static_cast<int>(refused()));
  EXPECT_EQ(requests["refused_without_retry_after"], 0);
  EXPECT_EQ(requests["complete"].get<int>() + requests["refused_429"].get<int>() + requests["refused_503"].get<int>(), kBurst)
      << load.said();
  EXPECT_EQ(run["tokens"]["out"].get<double>(), cluster.metrics("router").sum(metric::kRouterOutputTokens.name));
}

}  // namespace
}  // namespace slipstream::e2e
