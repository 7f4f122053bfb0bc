// A draft head of random weights inside the verifier changes no word. It guesses badly, so it is
// asked rarely; the simulator has heads that guess well (tests/sim).
#include <gtest/gtest.h>

#include "common/metrics/names.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

constexpr double kEnough = 20;  // verified nodes of the head that make the claim mean something

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

}  // namespace
}  // namespace slipstream::e2e
