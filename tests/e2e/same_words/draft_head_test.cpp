// A draft head inside the verifier changes no word: one of random weights, which guesses badly and
// is asked rarely, and the one that is shipped with the demo's model, which guesses well. Nor does
// it in a drafter, to which the verifier sends features.
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/metrics/names.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"
#include "tests/e2e/support/prompts.h"

namespace slipstream::e2e {
namespace {

constexpr double kEnough = 20;     // verified nodes of the head that make the claim mean something
constexpr double kWonLeast = 0.2;  // tokens an ask wins, of the shipped head; a random one wins next to none

Cluster::Flags with_head() {
  return free_draft_nodes({"--head", SLIPSTREAM_SOURCE_FOLDER "/tests/data/tiny-head", "--threads", "1"});
}

TEST(DraftHead, ChangesNoWord) {
  Cluster cluster(tiny_model());
  cluster.start_router({});
  cluster.start_verifier(with_head());
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  for (const float temperature : {0.0F, 1.0F}) {
    std::vector<Question> questions = eight_questions(150);
    const std::vector<Question> again = questions;
    for (int i = 0; i < 2; ++i) questions.insert(questions.end(), again.begin(), again.end());
    for (size_t i = 0; i < questions.size(); ++i) {
      questions[i].temperature = temperature;
      questions[i].seed = i;
      if (i % 3 == 0) questions[i].more = R"({"repetition_penalty":1.3,"min_tokens":90})";
    }
    const std::vector<Answer> drafted = cluster.ask_all(questions, 4);
    for (Question& question : questions) question.speculate = false;
    const std::vector<Answer> plain = cluster.ask_all(questions, 4);
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << "question " << i;
  }
  const Samples verifier = cluster.settled_verifier();
  EXPECT_GE(verifier.sum(metric::kVerifierKindNodes.name, {"method=\"head\"", "model=\"tiny-head\""}), kEnough);
  const FateMetrics fates(verifier);
  EXPECT_EQ(fates.received, fates.accounted());
  EXPECT_EQ(fates.held, 0);
}

// As those it was trained on, so that it guesses well.
const std::vector<std::string> kEasy{
    "Write a short essay about coffee.",      "Explain volcanoes to a beginner.",
    "What should everybody know about cats?", "Write a Python function that reverses a string.",
    "How do bridges carry weight?",           "Tell me about the history of Spain."};

// A head whose features or
// positions were not those that it was trained on would guess as badly as the random one.
TEST(SameWords, WithTheHeadThatIsShipped) {
  std::filesystem::path model = chat_model();
  Cluster cluster(model += ".gguf");
  cluster.start_router({});
  cluster.start_verifier({"--head", SLIPSTREAM_SOURCE_FOLDER "/models/smollm2-135m-instruct.gguf-head", "--step-cost-us",
                          "8000"});  // rows are free, and a pass of the head costs little beside a step
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  std::vector<Question> questions = by_turns(kEasy, 64);
  const std::vector<Answer> drafted = cluster.ask_all(questions, 2);
  for (Question& question : questions) question.speculate = false;
  const std::vector<Answer> plain = cluster.ask_all(questions, 2);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << "question " << i;
  const Samples verifier = cluster.settled_verifier();
  const std::string of_head = R"(method="head")";
  const double asks = verifier.sum(metric::kVerifierDraftAsks.name, {of_head, R"(asked="yes")"});
  EXPECT_GE(asks, kEnough);
  EXPECT_GE(verifier.sum(metric::kVerifierKindAccepted.name, {of_head}), kWonLeast * asks);
}

constexpr const char* kShippedHead = SLIPSTREAM_SOURCE_FOLDER "/models/smollm2-135m-instruct.gguf-head";

// The second drafter gets the features of sequences that began without it: they are read from the
// target's cache. Features of other tokens would make it guess as badly as a random head.
TEST(SameWords, WithTheHeadThatIsShippedInADrafter) {
  std::filesystem::path model = chat_model();
  Cluster cluster(model += ".gguf");
  const Cluster::Flags drafter{"--method", "draft-head", "--head", kShippedHead, "--threads", "1"};
  cluster.start_router({"--deadline-us", "100000"});
  cluster.start_verifier(verify_every_draft({"--head", kShippedHead, "--head-at", "drafters", "--threads", "1"}));
  cluster.start_drafter(drafter);
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
  std::vector<Question> questions = by_turns(kEasy, 32);
  const std::string of_head = R"(method="draft-head")";
  const auto won = [&](const Samples& verifier) {
    return verifier.sum(metric::kVerifierKindAccepted.name, {of_head}) /
           verifier.sum(metric::kVerifierDraftAsks.name, {of_head, R"(asked="yes")"});
  };
  const std::vector<Answer> drafted = cluster.ask_all(questions, 2);
  EXPECT_GE(won(cluster.settled_verifier()), kWonLeast);
  Load load(cluster, questions);
  cluster.kill("drafter", SIGKILL);
  const double before = cluster.metrics("verifier").sum(metric::kVerifierKindAccepted.name, {of_head});
  cluster.start_drafter(drafter);
  cluster.wait("the second drafter's accepted nodes", [&] {
    return cluster.metrics("verifier").sum(metric::kVerifierKindAccepted.name, {of_head}) >= before + kEnough;
  });
  EXPECT_EQ(load.report().wrong, std::vector<std::string>{});
  EXPECT_GE(won(cluster.metrics("verifier")), kWonLeast);
  for (Question& question : questions) question.speculate = false;
  const std::vector<Answer> plain = cluster.ask_all(questions, 2);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << "question " << i;
}

// Advances are lost: the drafter says what it holds, and gets the rest with its features.
TEST(DraftHead, InADrafterIsSentLostFeaturesAgain) {
  constexpr const char* kTinyHead = SLIPSTREAM_SOURCE_FOLDER "/tests/data/tiny-head";
  Cluster cluster(tiny_model());
  cluster.start_proxy("drafter", {"--loss", "0.05", "--duplicate", "0.05", "--reorder", "0.05", "--seed", "3"});
  cluster.start_router({"--deadline-us", "5000"});
  cluster.start_verifier(verify_every_draft({"--head", kTinyHead, "--head-at", "drafters", "--threads", "1"}));
  cluster.start_drafter({"--method", "draft-head", "--head", kTinyHead, "--threads", "1"});
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
  Load load(cluster, eight_questions(200));
  cluster.wait("resyncs", [&] { return cluster.metrics("verifier").sum(metric::kVerifierResyncs.name) >= 20; });
  EXPECT_EQ(load.report().wrong, std::vector<std::string>{});
  const Samples drafter = cluster.metrics("drafter");
  EXPECT_EQ(drafter.sum(metric::kDrafterAdvances.name, {R"(outcome="invalid")"}), 0) << "each had its features";
  EXPECT_GT(cluster.metrics("verifier").sum(metric::kVerifierFeaturesSent.name), 1000);
}

}  // namespace
}  // namespace slipstream::e2e
