// The words are the same where penalties and masks change the logits by what the output holds.
// The nodes of a draft tree then see their own path as output. It holds whoever drafts, and when
// a verifier dies and another goes on.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

constexpr const char* kMore[] = {
    R"({"repetition_penalty":1.4})",
    R"({"presence_penalty":1.5,"frequency_penalty":-0.5})",
    R"({"frequency_penalty":0.8,"logit_bias":{"10":4,"11":-100}})",
    R"({"min_tokens":60,"stop":"a","bad_words":["b","ca"]})",
    R"({"allowed_token_ids":[4,5,6,7,8,9,10,11,12,13,14,15],"repetition_penalty":1.2,"min_tokens":20})",
};

std::vector<Question> questions(int tokens) {
  std::vector<Question> questions = eight_questions(tokens);
  for (size_t i = 0; i < questions.size(); ++i) questions[i].more = kMore[i % std::size(kMore)];
  return questions;
}

std::vector<Answer> answers_with(const std::string& drafter) {
  Cluster cluster(tiny_model());
  cluster.start_all(drafter);
  std::vector<Answer> answers = cluster.ask_all(questions(120), 4);
  const FateMetrics fates(cluster.settled_verifier());
  fmt::print("{}: {} nodes received, {} accepted, {} rejected\n", drafter, fates.received, fates.accepted, fates.rejected);
  EXPECT_EQ(fates.accepted + fates.rejected > 0, drafter != "none") << "the comparison says nothing";
  return answers;
}

TEST(ProcessedWords, AreTheSameWhoeverDrafts) {
  const std::vector<Answer> plain = answers_with("none");
  for (const char* drafter : {"ngram", "random", "small-lm"}) {
    const std::vector<Answer> drafted = answers_with(drafter);
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << drafter << ", question " << i;
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    if (i % std::size(kMore) != 4) continue;
    const bool allowed = std::ranges::all_of(plain[i].ids, [](int32_t id) { return 4 <= id && id <= 15; });
    EXPECT_TRUE(allowed) << "question " << i;
  }
}

// The second verifier counts the tokens that the first one emitted.
TEST(ProcessedWords, AreTheSameWhenAVerifierDies) {
  Cluster cluster(tiny_model());
  cluster.start_all("small-lm");
  cluster.start_verifier({"--threads", "1"}, "spare");
  cluster.wait_ports("spare");
  Load load(cluster, questions(200));
  cluster.wait("answers", [&] { return load.answers() >= 8; });
  cluster.kill("verifier", SIGKILL);
  const int before = load.answers();
  cluster.wait("more answers", [&] { return load.answers() >= before + 16; });
  EXPECT_EQ(load.report().wrong, std::vector<std::string>{});
}

}  // namespace
}  // namespace slipstream::e2e
