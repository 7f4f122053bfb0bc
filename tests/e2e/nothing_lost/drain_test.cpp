// A process that is told to stop finishes its work or hands it over.
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

void expect_in_log(const Cluster& cluster, const std::string& service, const std::string& words) {
  EXPECT_NE(cluster.log(service).find(words), std::string::npos) << "no \"" << words << "\" in\n" << cluster.log(service);
}

// Stops the service in the middle of an answer, and returns the whole answer.
Answer stopped_midway(Cluster& cluster, const std::string& service, const std::function<void()>& then = [] {}) {
  int pieces = 0;
  Answer answer = cluster.ask(long_question(kLongAnswer), [&](const Piece&) {
    if (++pieces != 5) return;
    cluster.process(service).signal(SIGTERM);
    then();
  });
  EXPECT_GE(pieces, 20);
  return answer;
}

TEST(Drain, OfTheRouterFinishesItsAnswersAndTakesNoMore) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("ngram");
  const Answer expected = cluster.ask(long_question(kLongAnswer));
  const Answer answer = stopped_midway(cluster, "router", [&] {
    cluster.wait("the router to close", [&] { return cluster.client().get("/ready")->status == 503; });
    http::Client late = cluster.client();
    const auto refused = late.post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "abc"}]})");
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->status, 503);
    EXPECT_NE(refused->body.find("shutting_down"), std::string::npos) << refused->body;
  });
  EXPECT_EQ(answer.ids, expected.ids);
  const auto exit = cluster.process("router").wait(kWaitMax);
  ASSERT_TRUE(exit) << "it does not end";
  EXPECT_EQ(exit->words(), "exited with status 0");
  expect_in_log(cluster, "router", "info    router: told to stop: 1 answer goes on, for at most 25000 ms (--drain-ms)\n");
  expect_in_log(cluster, "router",
                "info    router: stopped: of the 1 under way 1 finished, 0 failed or lost their client, 0 cut\n");
}

TEST(Drain, OfTheRouterEndsAnswersThatTakeTooLong) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_router({"--drain-ms", "0"});
  cluster.start_verifier();
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  int pieces = 0;
  http::Client client = cluster.client();
  const auto cut = command::ask(client, cluster.model_name(), long_question(kLongAnswer), [&](const Piece&) {
    if (++pieces == 5) cluster.process("router").signal(SIGTERM);
    return true;
  });
  ASSERT_FALSE(cut) << "the answer took less than no time";
  EXPECT_NE(cut.error().message.find("shutting down"), std::string::npos) << cut.error().message;
  EXPECT_TRUE(cluster.process("router").wait(kWaitMax));
  expect_in_log(cluster, "router", "stopped: of the 1 under way 0 finished, 0 failed or lost their client, 1 cut\n");
}

TEST(Drain, OfAVerifierHandsItsSequencesToAnother) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("none");
  const Answer expected = cluster.ask(long_question(kLongAnswer));
  cluster.start_verifier({}, "verifier-2");
  cluster.wait("two verifiers",
               [&] { return cluster.metrics("router").sum(metric::kRouterWorkers.name, {R"(role="verifier")"}) == 2; });
  std::string stopped;
  int pieces = 0;
  const Answer answer = cluster.ask(long_question(kLongAnswer), [&](const Piece&) {
    if (++pieces != 5) return;
    const bool first = cluster.metrics("verifier").sum(metric::kVerifierSequencesLive.name) > 0;
    stopped = first ? "verifier" : "verifier-2";
    cluster.process(stopped).signal(SIGTERM);
  });
  EXPECT_EQ(answer.ids, expected.ids);
  EXPECT_EQ(cluster.metrics("router").sum(metric::kRouterStarts.name, {R"(kind="replay")"}), 1);
  const auto exit = cluster.process(stopped).wait(kWaitMax);
  ASSERT_TRUE(exit) << stopped << " does not end";
  EXPECT_EQ(exit->words(), "exited with status 0");
  expect_in_log(cluster, stopped,
                "told to stop: 1 sequence goes on until another verifier has it, for at most 25000 ms (--drain-ms)\n");
  expect_in_log(cluster, stopped, "stopped: of 1 here 0 finished, 1 handed over or given up by their routers, 0 cut\n");
}

TEST(Drain, OfTheOnlyVerifierFinishesItsSequences) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("none");
  const Answer expected = cluster.ask(long_question(kLongAnswer));
  EXPECT_EQ(cluster.page("verifier", "/ready").status, 200);
  const Answer answer = stopped_midway(cluster, "verifier", [&] {
    cluster.wait("the verifier to say that it leaves", [&] { return cluster.page("verifier", "/ready").status == 503; });
    EXPECT_EQ(cluster.page("verifier", "/health").status, 200);
  });
  EXPECT_EQ(answer.ids, expected.ids);
  const auto exit = cluster.process("verifier").wait(kWaitMax);
  ASSERT_TRUE(exit) << "it does not end";
  EXPECT_EQ(exit->words(), "exited with status 0");
  expect_in_log(cluster, "verifier", "stopped: of 1 here 1 finished, 0 handed over or given up by their routers, 0 cut\n");
}

TEST(Drain, OfADrafterIsOverAtOnce) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("ngram");
  const Answer expected = cluster.ask(long_question(kLongAnswer));
  EXPECT_EQ(stopped_midway(cluster, "drafter").ids, expected.ids);
  const auto exit = cluster.process("drafter").wait(kWaitMax);
  ASSERT_TRUE(exit) << "it does not end";
  EXPECT_EQ(exit->words(), "exited with status 0");
  expect_in_log(cluster, "drafter", "told to stop at once: 1 sequence goes on without this drafter\n");
  expect_in_log(cluster, "drafter", "info    drafter: stopped: sequences begun in this life: ");
}

}  // namespace
}  // namespace slipstream::e2e
