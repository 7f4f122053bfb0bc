// A sequence that nobody waits for any more is freed: its router died, or its client left.
#include <csignal>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

TEST(RouterLoss, FreesItsSequences) {
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

TEST(ClientLoss, FreesItsSequence) {
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

}  // namespace
}  // namespace slipstream::e2e
