#include "tools/slipstream/doctor/model.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file_lock.h"
#include "common/drafting/tenant_file.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream::command::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kTokenizer = 0x1234;

class AnswersCheck : public testing::Test {
 protected:
  AnswersCheck() {
    options.look_up_file = (folder.path() / "answers").string();
    target.tokenizer = kTokenizer;
    target.config.vocabulary = 100;
  }
  Finding check(bool ours = false) const { return check_answers(options, target, ours); }
  void write(uint64_t tokenizer) const {
    TenantTexts texts;
    texts.append(7, std::vector<TokenId>{1, 2, 3});
    ASSERT_TRUE(write_tenant_file(options.look_up_file, tokenizer, texts));
  }
  ScopedFolder folder;
  FleetOptions options;
  ModelFacts target;
};

// Of a model in the middle of whose layers a tensor has another shape than its config says.
TEST(ModelCheck, FailsWhereTheStartWould) {
  const ScopedFolder folder;
  const auto model = folder.path() / "model";
  std::filesystem::copy(std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/data/tiny-llama", model);
  std::ifstream file(model / "config.json");
  std::string config(std::istreambuf_iterator<char>(file), {});
  config.replace(config.find("\"num_key_value_heads\": 2"), 24, "\"num_key_value_heads\": 1");
  folder.write("model/config.json", config);
  Findings findings;
  EXPECT_FALSE(check_model(model, findings));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_THAT(findings[0].found, HasSubstr("tensor model.layers.0.self_attn.k_proj.weight has shape [16, 32]"));
}

TEST_F(AnswersCheck, IsFineWithAFileOfThisModelOrNone) {
  EXPECT_EQ(check().level, Level::ok);
  EXPECT_THAT(check().found, HasSubstr("answers: a server that stops will make it"));
  write(kTokenizer);
  EXPECT_EQ(check().level, Level::ok);
  EXPECT_THAT(check().found, HasSubstr("answers: 3 tokens of earlier answers"));
}

TEST_F(AnswersCheck, WarnsOfAFileThatTheStartWouldSetAside) {
  write(kTokenizer + 1);
  EXPECT_EQ(check().level, Level::warn);
  EXPECT_THAT(check().found, AllOf(HasSubstr("is of tokenizer"), HasSubstr("name another file")));
  EXPECT_THAT(check().advice, HasSubstr("answers.unusable"));
  folder.write("answers", "SLIPTEXT, and then not what it should be");
  EXPECT_EQ(check().level, Level::warn);
}

TEST_F(AnswersCheck, FailsWhereTheStartWould) {
  options.look_up_file = folder.write("letter", "Dear all,");
  EXPECT_EQ(check().level, Level::fail);
  EXPECT_THAT(check().found, HasSubstr("letter: it is no file of remembered answers"));
  options.look_up_file = (folder.path() / "nowhere/answers").string();
  EXPECT_EQ(check().level, Level::fail);
}

TEST_F(AnswersCheck, FailsWhereAnotherHasTheFileButNotWhereTheServerHasIt) {
  const FileLock lock = FileLock::take(options.look_up_file).value();
  EXPECT_EQ(check().level, Level::fail);
  EXPECT_THAT(check().found, HasSubstr("answers: a process that runs uses it"));
  EXPECT_EQ(check(true).level, Level::ok);
  EXPECT_THAT(check(true).found, HasSubstr("answers: the running server has it"));
}

}  // namespace
}  // namespace slipstream::command::doctor
