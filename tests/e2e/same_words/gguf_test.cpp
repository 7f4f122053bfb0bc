// A GGUF file takes the place of a Hugging Face folder: the words are the same, whoever drafts,
// and workers that have the folder may stand beside it.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/data/gguf_of_folder.h"
#include "tests/data/own_path.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"
#include "tests/e2e/support/prompts.h"

namespace slipstream::e2e {
namespace {

const std::filesystem::path kServices = std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "services";

// The tiny model with a pre-tokenizer that has a name in GGUF.
std::filesystem::path tiny_folder(const std::filesystem::path& to) {
  std::filesystem::copy(tiny_model(), to);
  auto tokenizer = nlohmann::json::parse(std::ifstream(to / "tokenizer.json"));
  tokenizer["pre_tokenizer"] = nlohmann::json::parse(R"({"type": "Sequence", "pretokenizers": [
    {"type": "Digits", "individual_digits": true},
    {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]})");
  tokenizer["model"]["unk_token"] = nullptr;
  std::filesystem::permissions(to / "tokenizer.json", std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::ofstream(to / "tokenizer.json") << tokenizer;
  return to;
}

class Gguf : public testing::Test {
 protected:
  Gguf() {
    std::filesystem::remove_all(home_);
    std::filesystem::create_directories(home_);
    folder_ = tiny_folder(home_ / "tiny");
    file_ = GgufOfFolder(folder_, GgmlType::bf16, "smollm").write(home_ / "tiny.gguf");
  }
  ~Gguf() override { std::filesystem::remove_all(home_); }

  void expect_words_of_the_folder(const std::vector<Answer>& answers) {
    Cluster cluster(folder_);
    cluster.start_all("none");
    const std::vector<Answer> expected = cluster.ask_all(questions_, 4);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(answers[i].ids, expected[i].ids);
      EXPECT_EQ(answers[i].text, expected[i].text);
    }
  }

  std::filesystem::path home_ = own_path("gguf"), folder_, file_;
  std::vector<Question> questions_ = eight_questions(60);
};

TEST_F(Gguf, FileServesTheWordsOfItsFolderWhoeverDrafts) {
  for (const char* drafter : {"ngram", "small-lm"}) {
    Cluster cluster(file_);
    cluster.start_all(drafter);
    EXPECT_EQ(cluster.model_name(), "tiny");
    const std::vector<Answer> answers = cluster.ask_all(questions_, 4);
    EXPECT_GT(FateMetrics(cluster.settled_verifier()).received, 0) << drafter;
    expect_words_of_the_folder(answers);
  }
}

TEST_F(Gguf, RouterTakesWorkersThatHaveTheFolder) {
  Cluster cluster(file_);
  cluster.start_router({"--deadline-us", "1000000"});
  cluster.start_verifier(verify_every_draft({"--model", folder_.string()}));
  cluster.start_drafter({"--method", "small-lm", "--model", folder_.string(), "--draft-model", file_.string()});
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
  const std::vector<Answer> answers = cluster.ask_all(questions_, 4);
  EXPECT_GT(FateMetrics(cluster.settled_verifier()).accepted, 0);
  expect_words_of_the_folder(answers);
}

TEST_F(Gguf, FileThatWasCutShortIsNamedByEveryService) {
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 4096);
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const std::filesystem::path log = home_ / (service + ".log");
    auto process = Process::start({.program = kServices / service / ("slipstream-" + service),
                                   .arguments = {"--model", file_.string()},
                                   .environment = {},
                                   .log = log});
    ASSERT_TRUE(process.has_value()) << process.error().message;
    const auto ended = process->wait(kWaitMax);
    ASSERT_TRUE(ended.has_value()) << service;
    EXPECT_EQ(ended->status, 2) << service;
    std::ifstream lines(log);
    const std::string said(std::istreambuf_iterator<char>(lines), {});
    EXPECT_NE(said.find("tiny.gguf: tensor"), std::string::npos) << said;
    EXPECT_NE(said.find("truncated"), std::string::npos) << said;
  }
}

// The chat model's own file of Q4_1 and Q8_0, and the bf16 folder that was made of it. Both compute
// in bf16.
TEST(SameWords, OfTheChatModelsFileAndItsFolder) {
  const std::filesystem::path file = chat_model().string() + ".gguf";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file << ": `make setup` keeps it when it fetches the model";
  const std::vector<Question> questions = by_turns(committed_prompts(4), 24);
  std::vector<std::vector<Answer>> answers;
  for (const auto& model : {chat_model(), file}) {
    Cluster cluster(model);
    cluster.start_router();
    cluster.start_verifier({"--weights", "bf16"});
    cluster.start_drafter();
    for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
    cluster.wait_ready();
    cluster.wait_drafter();
    answers.push_back(cluster.ask_all(questions, 2));
  }
  for (size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(answers[0][i].ids, answers[1][i].ids);
}

}  // namespace
}  // namespace slipstream::e2e
