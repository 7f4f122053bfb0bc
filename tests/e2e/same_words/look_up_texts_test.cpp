// Look-up finds what survived a restart, and what is in a corpus: the words stay the same, and more
// of them were guessed.
#include <csignal>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
#include "common/corpus/corpus.h"
#include "tests/e2e/support/cluster.h"
#include "tools/slipstream/commands.h"

namespace slipstream::e2e {
namespace {

constexpr int kAnswerTokens = 300;
constexpr int64_t kNearlyAll = 150;  // guesses right of an answer that look-up has read before
constexpr int64_t kByChance = 20;    // guesses right more, or less, of one that it has not

class LookUpTexts : public testing::Test {
 protected:
  LookUpTexts() : cluster(tiny_model_with_room()) { cluster.start_router(); }
  void start(Cluster::Flags flags) {
    flags.insert(flags.end(), {"--resident", "ngram"});
    cluster.start_verifier(free_draft_nodes(std::move(flags)));
    cluster.wait_ports("verifier");
    cluster.wait_ready();
  }
  void restart(const Cluster::Flags& flags) {
    cluster.kill("verifier", SIGTERM);
    start(flags);
  }
  // A random text, the same at every call.
  Answer answer(const std::string& api_key) {
    const Question question{
        .text = "hello", .tokens_max = kAnswerTokens, .temperature = 1, .seed = 7, .more = kNoEnd, .api_key = api_key};
    http::Client client = cluster.client();
    return command::ask(client, cluster.model_name(), question, [](const command::Piece&) { return true; }).value();
  }
  std::string file(const std::string& name) const { return (cluster.folder() / name).string(); }
  Cluster cluster;
};

TEST_F(LookUpTexts, SurviveARestartForTheirTenantAlone) {
  const Cluster::Flags flags{"--look-up-file", file("answers")};
  start(flags);
  const Answer first = answer("one");
  restart(flags);
  const Answer other = answer("two");
  EXPECT_EQ(other.ids, first.ids);
  EXPECT_LE(other.accepted_nodes, first.accepted_nodes + kByChance) << "another tenant finds nothing";
  EXPECT_GT(answer("one").accepted_nodes, kNearlyAll);
}

TEST_F(LookUpTexts, AreForgottenWithoutAFile) {
  start({});
  const Answer first = answer("one");
  restart({});
  EXPECT_LE(answer("one").accepted_nodes, first.accepted_nodes + kByChance);
}

// Both once ran, and the last to stop overwrote what the other had written. A drafter stands for
// any second process: it may use the file as soon as the verifier has ended, however that ended.
TEST_F(LookUpTexts, AFileIsOneProcesss) {
  const Cluster::Flags flags{"--look-up-file", file("answers")};
  start(flags);
  cluster.start_drafter(flags);
  const auto exit = cluster.process("drafter").wait(kWaitMax);
  ASSERT_TRUE(exit);
  EXPECT_NE(exit->status, 0);
  EXPECT_THAT(cluster.log("drafter"),
              testing::HasSubstr("--look-up-file " + file("answers") + ": a process that runs uses it"));
  cluster.kill("verifier", SIGKILL);
  cluster.start_drafter(flags);
  cluster.wait_ports("drafter");
}

TEST_F(LookUpTexts, AVerifierStartsBesideAFileThatItCannotUse) {
  std::ofstream(file("answers")) << "SLIPTEXT, and then not what it should be";
  start({"--look-up-file", file("answers")});
  EXPECT_THAT(cluster.log("verifier"), testing::HasSubstr("look-up begins without earlier answers"));
  EXPECT_TRUE(std::filesystem::exists(file("answers.unusable")));
}

TEST_F(LookUpTexts, OfACorpusAreFoundByEverybody) {
  start({});
  const Answer first = answer("");
  const auto tokenizer = hash_tokenizer(tiny_model_with_room()).value();
  ASSERT_TRUE(write_corpus(file("a.corpus"), tokenizer, first.ids));
  restart({"--look-up-corpus", file("a.corpus"), "--look-up", "own"});
  for (const char* key : {"", "one"}) {
    const Answer second = answer(key);
    EXPECT_EQ(second.ids, first.ids);
    EXPECT_GT(second.accepted_nodes, kNearlyAll);
  }
}

// `slipstream corpus`, and a second run of it that has one prompt more.
TEST_F(LookUpTexts, OfACorpusComeFromARunningServer) {
  start({});
  std::ofstream(file("measured.txt")) << "the prompt of a benchmark\n";
  command::CorpusOptions options{.corpus = file("b.corpus"),
                                 .model = tiny_model_with_room(),
                                 .url = "http://127.0.0.1:" + std::to_string(cluster.http_port()),
                                 .prompts = file("prompts.txt"),
                                 .exclude = {file("measured.txt")},
                                 .answers = {},
                                 .tokens_max = 20};
  const auto lines = [&] {
    std::ifstream stream(file("b.corpus.answers.jsonl"));
    return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
  };
  std::ofstream(file("prompts.txt")) << "one\ntwo\nThe prompt of a benchmark!\n";
  ASSERT_TRUE(command::make_corpus(options));
  EXPECT_EQ(lines(), 2) << "the benchmark's prompt was not asked";
  std::ofstream(file("prompts.txt"), std::ios::app) << "three\n";
  ASSERT_TRUE(command::make_corpus(options));
  EXPECT_EQ(lines(), 3) << "what is there is not asked again";
  const auto tokenizer = hash_tokenizer(tiny_model_with_room()).value();
  EXPECT_TRUE(Corpus::open(options.corpus, tokenizer, 64));
}

}  // namespace
}  // namespace slipstream::e2e
