// The first promise through real processes: the tokens are the same to the byte with any
// drafter, however bad it is, beside a drafter inside the verifier or not.
#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompts.h"

namespace slipstream::e2e {
namespace {

constexpr int kConnections = 4;  // so that sequences share batches

struct Arm {
  std::vector<Answer> answers;
  Samples verifier{""};
};

Arm answers_with(const std::string& drafter, const std::vector<Question>& questions) {
  Cluster cluster(chat_model());
  cluster.start_all(drafter, /*wait=*/drafter == "ngram");  // of its few trees none comes in time on a busy machine
  Arm arm;
  arm.answers = cluster.ask_all(questions, kConnections);
  arm.verifier = cluster.settled_verifier();
  return arm;
}

int differing(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i].ids != b[i].ids || a[i].finish != b[i].finish ? 1 : 0;
  return count;
}

void expect_same_words(const std::vector<Question>& questions) {
  const Arm plain = answers_with("none", questions);
  size_t tokens = 0;
  for (const Answer& answer : plain.answers) tokens += answer.ids.size();
  fmt::print("{} answers of {} tokens together\n", plain.answers.size(), tokens);
  for (const char* drafter : {"ngram", "random", "small-lm", "malformed", "resident+none", "resident+random"}) {
    const Arm arm = answers_with(drafter, questions);
    EXPECT_EQ(differing(plain.answers, arm.answers), 0) << drafter;
    const FateMetrics fates(arm.verifier);
    fmt::print("{}: {} of {} answers differ; {} draft nodes received, {} accepted, {} rejected\n", drafter,
               differing(plain.answers, arm.answers), questions.size(), fates.received, fates.accepted, fates.rejected);
    if (std::string(drafter) == "malformed") {
      EXPECT_GT(arm.verifier.sum(metric::kVerifierPeerFaults.name, {R"(kind="malformed")"}), 0);
    } else {
      EXPECT_GT(fates.accepted + fates.rejected, 0) << drafter << " drafted nothing: the comparison says nothing";
    }
  }
}

TEST(SameWords, OfThirtyTwoPromptsByTurnsGreedyAndSampled) { expect_same_words(by_turns(committed_prompts(32), 32)); }

TEST(SameWordsLong, OfSixtyFourPromptsBothWays) { expect_same_words(both_ways(shared_prompts(64), 128)); }

}  // namespace
}  // namespace slipstream::e2e
