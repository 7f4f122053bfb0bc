// What drafts are worth: a drafter that knows the target's answer is never wrong where the target
// looks, and every node that arrives has one fate.
#include <fstream>

#include <gtest/gtest.h>

#include "tests/e2e/cluster.h"
#include "tests/e2e/node_fates.h"
#include "tests/e2e/prompt_ids.h"

namespace slipstream::e2e {
namespace {

std::vector<Question> questions(float temperature, float top_p) {
  std::vector<Question> list;
  for (const char* words : {"hello", "tell me more", "abcabcabc", "what is it?", "one two three", "x"}) {
    Question question;
    question.text = words;
    question.tokens_max = 120;
    question.temperature = temperature;
    question.top_p = top_p;
    question.seed = 7 + list.size();
    list.push_back(question);
  }
  return list;
}

void expect_all_accepted(const std::vector<Question>& asked) {
  std::vector<Answer> plain;
  {
    Cluster cluster(tiny_model());
    cluster.start_all("none");
    plain = cluster.ask_all(asked, 2);
  }
  Cluster cluster(tiny_model());
  std::vector<Known> known;
  for (size_t i = 0; i < asked.size(); ++i)
    known.push_back({prompt_ids(tiny_model(), asked[i].text), plain[i].ids, static_cast<uint64_t>(*asked[i].seed)});
  write_answers(cluster.folder() / "answers.json", known);
  cluster.start_all("oracle");
  const std::vector<Answer> drafted = cluster.ask_all(asked, 2);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << asked[i].text;

  const NodeFates fates(cluster.settled_verifier());
  fmt::print("{} nodes received, {} accepted, {} rejected: acceptance of reached nodes {:.3f}\n", fates.received,
             fates.accepted, fates.rejected, fates.accepted / (fates.accepted + fates.rejected));
  EXPECT_GT(fates.accepted, 100);
  EXPECT_EQ(fates.rejected, 0);
}

TEST(Oracle, IsNeverWrongAtTemperatureZero) { expect_all_accepted(questions(0.0F, 1.0F)); }

TEST(Oracle, IsNeverWrongWhenTokensAreSampledFromANucleus) { expect_all_accepted(questions(1.0F, 0.9F)); }

class Fates : public testing::TestWithParam<const char*> {};

TEST_P(Fates, AddUpToWhatWasReceived) {
  Cluster cluster(tiny_model());
  cluster.start_all(GetParam());
  cluster.ask_all(questions(1.0F, 1.0F), 3);
  const NodeFates fates(cluster.settled_verifier());
  fmt::print("{}: received {}, accepted {}, rejected {}, unreached {}, trimmed {}, late {}, stale {}, invalid {}, held {}\n",
             GetParam(), fates.received, fates.accepted, fates.rejected, fates.unreached, fates.trimmed, fates.late,
             fates.stale, fates.invalid, fates.held);
  if (std::string(GetParam()) != "malformed") {  // of its mischief, few pieces are nodes at all
    EXPECT_GT(fates.received, 0);
  }
  EXPECT_EQ(fates.accounted(), fates.received);
}

INSTANTIATE_TEST_SUITE_P(WhoeverDrafts, Fates, testing::Values("ngram", "small-lm", "random", "useless", "malformed", "late"),
                         [](const auto& script) {
                           std::string name = script.param;
                           std::erase(name, '-');
                           return name;
                         });

void exchange_two_tokens(const std::filesystem::path& tokenizer_json) {
  std::ifstream in(tokenizer_json);
  std::string text(std::istreambuf_iterator<char>(in), {});
  for (const auto& [token, id] : {std::pair("\"M\": ", "63"), std::pair("\"N\": ", "62")}) {
    const size_t at = text.find(token);
    ASSERT_NE(at, text.npos);
    text.replace(at + std::string(token).size(), 2, id);
  }
  std::filesystem::permissions(tokenizer_json, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::ofstream(tokenizer_json) << text;
}

TEST(Drafter, ForAnotherTokenizerIsRefusedWithTheReasonAndChangesNothing) {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  const std::vector<Question> asked = questions(0, 1);
  const std::vector<Answer> plain = cluster.ask_all(asked, 2);
  const std::filesystem::path other = cluster.folder() / "another-tokenizer";
  std::filesystem::copy(tiny_model(), other);
  exchange_two_tokens(other / "tokenizer.json");

  cluster.start_drafter({"--model", other.string()});
  cluster.wait_ports("drafter");
  cluster.wait("the refusal", [&] {
    return cluster.metrics("router").sum(metric::kRouterWorkerFaults.name, {R"(kind="refused")"}) > 0 &&
           cluster.log("drafter").find("other tokens") != std::string::npos;
  });
  EXPECT_NE(cluster.log("drafter").find("Start both from the same model folder"), std::string::npos);
  EXPECT_NE(cluster.log("router").find("other tokens"), std::string::npos);
  EXPECT_EQ(cluster.page("drafter", "/ready").status, 503);
  const std::vector<Answer> again = cluster.ask_all(asked, 2);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(again[i].ids, plain[i].ids);
  EXPECT_EQ(cluster.metrics("verifier").sum(metric::kVerifierNodesReceived.name), 0);
}

}  // namespace
}  // namespace slipstream::e2e
