// Weights in the small formats through the real processes: the `--weights` of verifier and
// drafter.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using testing::HasSubstr;

struct Computed {
  const char* weights;
  bool fine_rows = false;
};
class Weights : public testing::TestWithParam<Computed> {};

// A drafter with the same weights in the same format is always right, because its logits have the
// verifier's bits.
TEST_P(Weights, GiveTheSameWordsWithDraftsAndWithoutAndTheirOwnDraftsAreAlwaysRight) {
  const auto& [weights, fine_rows] = GetParam();
  Cluster cluster(tiny_model());
  cluster.start_router({"--deadline-us", "100000"});
  std::vector<std::string> verifier{"--weights", weights, "--threads", "1"};
  std::vector<std::string> drafter{"--method", "small-lm", "--weights", weights, "--siblings", "1", "--threads", "1"};
  for (auto* flags : {&verifier, &drafter}) {
    if (fine_rows) flags->emplace_back("--fine-rows");
  }
  cluster.start_verifier(verify_every_draft(verifier));
  cluster.start_drafter(drafter);
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
  EXPECT_THAT(cluster.log("verifier"), HasSubstr(std::string("/") + weights + "/"));
  EXPECT_EQ(cluster.log("verifier").contains("/fine rows"), fine_rows);
  std::vector<Question> questions = eight_questions(60);
  const std::vector<Answer> drafted = cluster.ask_all(questions, 4);
  const FateMetrics fates(cluster.settled_verifier());
  EXPECT_GT(fates.accepted, 0);
  EXPECT_EQ(fates.rejected, 0);
  for (Question& question : questions) question.speculate = false;
  const std::vector<Answer> plain = cluster.ask_all(questions, 4);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids);
}

INSTANTIATE_TEST_SUITE_P(Small, Weights,
                         testing::Values(Computed{"q8_0"}, Computed{"q4_0"}, Computed{"q4_1"}, Computed{"q5_1"},
                                         Computed{"q6_k"}, Computed{"q4_1", true}),
                         [](const auto& info) {
                           return info.param.weights + std::string(info.param.fine_rows ? "_fine" : "");
                         });

// Another format would give other words. The router waits for a verifier with the same format, and
// says why it gives up.
TEST(WeightsOfVerifiers, ThatDifferNeverReplayForEachOther) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_router();
  cluster.start_verifier({"--weights", "bf16"}, "wide");
  cluster.wait_ports("wide");
  cluster.wait_ready();
  Question question{.text = "abcabcabcabc", .tokens_max = kLongAnswer, .more = kNoEnd};
  http::Client client = cluster.client();
  int pieces = 0;
  const auto cut = command::ask(client, cluster.model_name(), question, [&](const Piece&) {
    if (++pieces == 5) {
      cluster.process("wide").signal(SIGSTOP);  // so that the answer is not over before the other verifier is there
      cluster.start_verifier({"--weights", "q8_0"}, "narrow");
      cluster.wait_ports("narrow");
      cluster.kill("wide", SIGKILL);
    }
    return true;
  });
  ASSERT_FALSE(cut) << "the answer went on in another format";
  EXPECT_THAT(cut.error().message, HasSubstr("other weights or numerics"));
  EXPECT_EQ(cluster.metrics("narrow").sum(metric::kVerifierSequencesStarted.name), 0);
  EXPECT_FALSE(cluster.ask(question).ids.empty()) << "a new answer may begin there";
}

}  // namespace
}  // namespace slipstream::e2e
