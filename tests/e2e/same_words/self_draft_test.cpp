// The target drafts for itself. Its chains are its own choices, so the target may reject no node
// that it reaches. It holds too when a new drafter prefills the sequences midway, and when the
// verifier is replaced.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

const Cluster::Flags kSelf{"--method", "small-lm", "--siblings", "1", "--threads", "1"};
const Cluster::Flags kPatientRouter{"--deadline-us", "100000"};  // every tree is waited for
const Cluster::Flags kPatientVerifier = verify_every_draft({"--threads", "1"});
constexpr double kEnough = 300;  // accepted nodes that make the claim mean something

void start(Cluster& cluster) {
  cluster.start_router(kPatientRouter);
  cluster.start_verifier(kPatientVerifier);
  cluster.start_drafter(kSelf);
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
}

void wait_accepted(Cluster& cluster, const std::string& verifier, double nodes) {
  cluster.wait("accepted nodes", [&] { return FateMetrics(cluster.metrics(verifier)).accepted >= nodes; });
}

void expect_all_accepted(const FateMetrics& fates, const std::string& what) {
  fmt::print("{}: {} nodes received, {} accepted, {} rejected, {} unreached, {} late\n", what, fates.received, fates.accepted,
             fates.rejected, fates.unreached, fates.late);
  EXPECT_GE(fates.accepted, kEnough) << what;
  EXPECT_EQ(fates.rejected, 0) << what;
}

TEST(SelfDraft, IsAlwaysAcceptedAtTemperatureZeroAndOne) {
  for (const float temperature : {0.0F, 1.0F}) {
    Cluster cluster(tiny_model());
    start(cluster);
    std::vector<Question> questions = eight_questions(100);
    const std::vector<Question> again = questions;  // the greedy answers are short
    for (int i = 0; i < 2; ++i) questions.insert(questions.end(), again.begin(), again.end());
    for (Question& question : questions) {
      question.temperature = temperature;
      question.seed = 7;
    }
    const std::vector<Answer> drafted = cluster.ask_all(questions, 4);
    expect_all_accepted(FateMetrics(cluster.settled_verifier()), fmt::format("temperature {}", temperature));
    for (Question& question : questions) question.speculate = false;
    const std::vector<Answer> plain = cluster.ask_all(questions, 4);
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids);
  }
}

// The drafter processes its logits as the target does, each node by its own path. min_tokens and
// the growing counts make answers long at temperature 0 too.
TEST(SelfDraft, IsAlwaysAcceptedUnderPenaltiesBiasAndMasks) {
  for (const float temperature : {0.0F, 1.0F}) {
    Cluster cluster(tiny_model());
    start(cluster);
    std::vector<Question> questions = eight_questions(100);
    for (Question& question : questions) {
      question.temperature = temperature;
      question.seed = 7;
      question.more = R"({"repetition_penalty":1.3,"presence_penalty":0.4,"frequency_penalty":0.3,"min_tokens":90,
                          "logit_bias":{"20":2,"33":-1.5},"bad_words":["ab","c d"]})";
    }
    const std::vector<Answer> drafted = cluster.ask_all(questions, 4);
    expect_all_accepted(FateMetrics(cluster.settled_verifier()), fmt::format("adjusted, temperature {}", temperature));
    for (Question& question : questions) question.speculate = false;
    const std::vector<Answer> plain = cluster.ask_all(questions, 4);
    for (Question& question : questions) question.more.clear();
    const std::vector<Answer> unprocessed = cluster.ask_all(questions, 4);
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(drafted[i].ids, plain[i].ids);
      EXPECT_GE(plain[i].ids.size(), 90U);
      EXPECT_NE(plain[i].ids, unprocessed[i].ids) << "nothing was adjusted";
    }
  }
}

TEST(SelfDraft, IsAlwaysAcceptedAfterTheDrafterStartedAgain) {
  Cluster cluster(tiny_model());
  start(cluster);
  Load load(cluster, eight_questions(200));
  for (int life = 0; life < 3; ++life) {
    const double before = FateMetrics(cluster.metrics("verifier")).accepted;
    wait_accepted(cluster, "verifier", before + kEnough);
    cluster.kill("drafter", SIGKILL);
    cluster.start_drafter(kSelf);
  }
  wait_accepted(cluster, "verifier", FateMetrics(cluster.metrics("verifier")).accepted + kEnough);
  const LoadReport report = load.report();
  EXPECT_EQ(report.wrong, std::vector<std::string>{});
  expect_all_accepted(FateMetrics(cluster.metrics("verifier")), "three new drafters");
}

TEST(SelfDraft, IsAlwaysAcceptedAfterTheVerifierWasReplaced) {
  Cluster cluster(tiny_model());
  start(cluster);
  cluster.start_verifier(kPatientVerifier, "spare");
  cluster.wait_ports("spare");
  Load load(cluster, eight_questions(200));
  wait_accepted(cluster, "verifier", kEnough);
  const FateMetrics before(cluster.metrics("verifier"));
  cluster.kill("verifier", SIGKILL);
  wait_accepted(cluster, "spare", kEnough);
  const LoadReport report = load.report();
  EXPECT_EQ(report.wrong, std::vector<std::string>{});
  expect_all_accepted(before, "the verifier that was killed");
  expect_all_accepted(FateMetrics(cluster.metrics("spare")), "the one that went on");
}

// A lost Advance leaves a gap: the drafter says how many tokens it holds and gets the rest.
TEST(SelfDraft, IsAlwaysAcceptedAfterResyncs) {
  Cluster cluster(tiny_model());
  cluster.start_proxy("drafter", {"--loss", "0.05", "--duplicate", "0.05", "--reorder", "0.05", "--seed", "3"});
  cluster.start_router({"--deadline-us", "5000"});
  cluster.start_verifier(kPatientVerifier);
  cluster.start_drafter(kSelf);
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
  Load load(cluster, eight_questions(200));
  cluster.wait("resyncs", [&] { return cluster.metrics("verifier").sum(metric::kVerifierResyncs.name) >= 20; });
  wait_accepted(cluster, "verifier", kEnough);
  const LoadReport report = load.report();
  EXPECT_EQ(report.wrong, std::vector<std::string>{});
  expect_all_accepted(FateMetrics(cluster.metrics("verifier")), "twenty resyncs");
}

}  // namespace
}  // namespace slipstream::e2e
