// A drafter dies amid an answer, and the answer goes on with the same words. Processes may start
// in any order.
#include <algorithm>
#include <array>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

// The first sequence that names a drafter opens the link to it, so a short one may end before the
// first draft comes.
size_t drafted(const Answer& answer) { return static_cast<size_t>(std::ranges::count(answer.drafted, uint8_t{1})); }

TEST(DrafterLoss, MidAnswerChangesNoWord) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  Question plain = long_question(600);
  plain.speculate = false;
  const Answer expected = cluster.ask(plain);

  int pieces = 0;
  const Answer answer = cluster.ask(long_question(600), [&](const Piece&) {
    if (++pieces == 20) cluster.kill("drafter", SIGKILL);
  });
  EXPECT_GE(pieces, 20);
  EXPECT_EQ(answer.ids, expected.ids);
  EXPECT_EQ(answer.finish, expected.finish);

  cluster.start_drafter();
  cluster.wait_drafter();
  cluster.wait("the new drafter to draft", [&] {
    const Answer again = cluster.ask(long_question(600));
    EXPECT_EQ(again.ids, expected.ids);
    return drafted(again) > 0;
  });
}

class StartOrder : public testing::TestWithParam<std::array<const char*, 3>> {};

TEST_P(StartOrder, DoesNotMatter) {
  Cluster cluster(tiny_model());
  cluster.reserve_router_port();
  for (const std::string service : GetParam()) {
    if (service == "router") cluster.start_router();
    if (service == "verifier") cluster.start_verifier(free_draft_nodes());
    if (service == "drafter") cluster.start_drafter();
    if (service == "router") continue;  // it has waited for its ports itself
    cluster.wait_ports(service);
  }
  cluster.wait_ready();
  cluster.wait_drafter();
  cluster.wait("a drafted answer", [&] { return drafted(cluster.ask(long_question(200))) > 0; });
}

INSTANTIATE_TEST_SUITE_P(
    AllSix, StartOrder,
    testing::Values(std::array{"router", "verifier", "drafter"}, std::array{"router", "drafter", "verifier"},
                    std::array{"verifier", "router", "drafter"}, std::array{"verifier", "drafter", "router"},
                    std::array{"drafter", "router", "verifier"}, std::array{"drafter", "verifier", "router"}),
    [](const auto& order) { return std::string(order.param[0]) + "_" + order.param[1] + "_" + order.param[2]; });

}  // namespace
}  // namespace slipstream::e2e
