// Live answers move to a verifier that has room, and their words stay the same.
#include <future>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/prompts.h"

namespace slipstream::e2e {
namespace {

// Eight long answers run on one verifier, and a second verifier is started amid them.
TEST(Rebalance, ToAVerifierThatJoinsUnderLoadChangesNoWord) {
  const std::vector<Question> questions = by_turns(committed_prompts(8), 400);
  Cluster cluster(chat_model());
  cluster.start_router();
  cluster.start_verifier({"--threads", "1"});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  const std::vector<Answer> alone = cluster.ask_all(questions, 8);

  auto asked = std::async(std::launch::async, [&] { return cluster.ask_all(questions, 8); });
  cluster.wait("all to be under way", [&] { return cluster.metrics("router").sum(metric::kRouterLive.name) == 8; });
  cluster.start_verifier({"--threads", "1"}, "verifier-2");
  cluster.wait_ports("verifier-2");
  const std::vector<Answer> together = asked.get();

  for (size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(together[i].ids, alone[i].ids) << questions[i].text;
  const Samples router = cluster.metrics("router"), joined = cluster.metrics("verifier-2");
  const double moved = router.sum(metric::kRouterPlacements.name, {R"(why="rebalance")"});
  const double tokens = joined.sum(metric::kVerifierOutputTokens.name);
  fmt::print("{} live answers moved to the verifier that joined, which wrote {} tokens\n", moved, tokens);
  EXPECT_GE(moved, 1);
  EXPECT_EQ(joined.sum(metric::kVerifierSequencesStarted.name), moved) << "nothing new was asked";
  EXPECT_GE(tokens, 1);
  EXPECT_EQ(router.sum(metric::kRouterTokenFaults.name, {R"(kind="gap")"}), 0);
}

}  // namespace
}  // namespace slipstream::e2e
