#include "tools/slipstream/corpus/answers_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/speculation/ngram_counts.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AnswersFile, GoesOnWhereItWas) {
  const ScopedFolder folder;
  const auto path = folder.path() / "answers.jsonl";
  AnswersFile first = AnswersFile::open(path).value();
  EXPECT_EQ(first.answers(), 0U);
  ASSERT_TRUE(first.add("why?", {1, 2}));
  ASSERT_TRUE(first.add("and \"how\"?\n", {3}));
  const AnswersFile second = AnswersFile::open(path).value();
  EXPECT_TRUE(second.has("why?"));
  EXPECT_TRUE(second.has("and \"how\"?\n"));
  EXPECT_FALSE(second.has("who?"));
  EXPECT_EQ(second.answers(), 2U);
  EXPECT_THAT(second.tokens(), ElementsAre(1, 2, kTextEnd, 3, kTextEnd));
}

TEST(AnswersFile, ForgetsALineThatWasCutByAKill) {
  const ScopedFolder folder;
  const std::string path = folder.write("answers.jsonl", "{\"prompt\": \"a\", \"token_ids\": [1]}\n{\"prompt\": \"b\", \"tok");
  AnswersFile first = AnswersFile::open(path).value();
  EXPECT_FALSE(first.has("b"));
  ASSERT_TRUE(first.add("b", {2}));
  EXPECT_THAT(AnswersFile::open(path).value().tokens(), ElementsAre(1, kTextEnd, 2, kTextEnd));
}

TEST(AnswersFile, SaysWhichLineIsWrong) {
  const ScopedFolder folder;
  for (const char* line : {"hello", "[1]", "{\"prompt\": \"a\"}", "{\"token_ids\": [-1]}", "{\"token_ids\": [\"a\"]}"}) {
    const std::string path = folder.write("answers.jsonl", std::string("{\"token_ids\": [1]}\n") + line + "\n");
    EXPECT_THAT(AnswersFile::open(path).error().message, HasSubstr("line 2 is no answer")) << line;
  }
}

}  // namespace
}  // namespace slipstream::command
