// Processes that die, in any order, and come: the answer goes on, and its words stay the same.
#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/cluster.h"

namespace slipstream::e2e {
namespace {

// The tiny model repeats itself soon, so look-up drafting finds something.
Question long_question(int tokens_max = 600) {
  Question question;
  question.text = "abcabcabcabc";
  question.tokens_max = tokens_max;
  question.more = kNoEnd;
  return question;
}

// The first sequence that names a drafter opens the link to it, so a short one may end before the
// first draft comes.
size_t drafted(const Answer& answer) { return static_cast<size_t>(std::ranges::count(answer.drafted, uint8_t{1})); }

TEST(Kill, OfTheDrafterMidAnswerChangesNoWord) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  Question plain = long_question();
  plain.speculate = false;
  const Answer expected = cluster.ask(plain);

  int pieces = 0;
  const Answer answer = cluster.ask(long_question(), [&](const Piece&) {
    if (++pieces == 20) cluster.kill("drafter", SIGKILL);
  });
  EXPECT_GE(pieces, 20);
  EXPECT_EQ(answer.ids, expected.ids);
  EXPECT_EQ(answer.finish, expected.finish);

  cluster.start_drafter();
  cluster.wait_drafter();
  cluster.wait("the new drafter to draft", [&] {
    const Answer again = cluster.ask(long_question());
    EXPECT_EQ(again.ids, expected.ids);
    return drafted(again) > 0;
  });
}

TEST(Kill, OfAHungDrafterIsNotNeeded) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  const Answer expected = cluster.ask(long_question());
  int pieces = 0;
  const Answer answer = cluster.ask(long_question(), [&](const Piece&) {
    if (++pieces == 20) cluster.process("drafter").signal(SIGSTOP);
  });
  cluster.process("drafter").signal(SIGCONT);
  EXPECT_EQ(answer.ids, expected.ids);
}

TEST(Kill, OfTheRouterFreesItsSequences) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_router({"--lease-ms", "500"});
  cluster.start_verifier();
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  int pieces = 0;
  const Question question = long_question(kLongAnswer);
  http::Client client = cluster.client();
  const auto cut = command::ask(client, cluster.model_name(), question, [&](const Piece&) {
    if (++pieces == 5) cluster.kill("router", SIGKILL);
    return true;
  });
  EXPECT_FALSE(cut) << "the answer outlived its router";
  cluster.wait("the verifier to free the sequence",
               [&] { return cluster.metrics("verifier").sum(metric::kVerifierSequencesLive.name) == 0; });
  cluster.start_router({"--lease-ms", "500"});
  cluster.wait_ready();
  EXPECT_FALSE(cluster.ask(long_question(20)).ids.empty());
}

TEST(Client, ThatGoesFreesItsSequence) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("ngram");
  {
    http::Client client = cluster.client();
    int events = 0;
    const std::string request = R"({"messages": [{"role": "user", "content": "abcabc"}], "stream": true, "ignore_eos": true})";
    const auto reply = client.post_stream("/v1/chat/completions", request, [&](std::string_view) { return ++events < 5; });
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(events, 5);
  }
  cluster.wait("the verifier to free the sequence",
               [&] { return cluster.metrics("verifier").sum(metric::kVerifierSequencesLive.name) == 0; });
  EXPECT_EQ(cluster.metrics("verifier").sum(metric::kVerifierSequencesEnded.name, {R"(why="cancelled")"}), 1);
  EXPECT_EQ(cluster.metrics("router").sum(metric::kRouterRequests.name, {R"(outcome="abandoned")"}), 1);
}

class StartOrder : public testing::TestWithParam<std::array<const char*, 3>> {};

TEST_P(StartOrder, DoesNotMatter) {
  Cluster cluster(tiny_model());
  cluster.reserve_router_port();
  for (const std::string service : GetParam()) {
    if (service == "router") cluster.start_router();
    if (service == "verifier") cluster.start_verifier();
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
