#include "common/config/misspelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kKnown{"lease-ms", "deadline-us", "key", "http", "model", "model-name"};

TEST(Misspelling, FindsTheNameAFewLettersAway) {
  EXPECT_EQ(nearest_name("leese-ms", kKnown), "lease-ms");
  EXPECT_EQ(nearest_name("lease_ms", kKnown), "lease-ms");
  EXPECT_EQ(nearest_name("dedlin-us", kKnown), "deadline-us");
  EXPECT_EQ(nearest_name("modl-name", kKnown), "model-name");
}

TEST(Misspelling, TakesSwappedLettersForOneSlip) {
  EXPECT_EQ(nearest_name("kye", kKnown), "key");
  EXPECT_EQ(nearest_name("htpt", kKnown), "http");
}

TEST(Misspelling, FindsTheNameWhoseBeginningItIs) {
  EXPECT_EQ(nearest_name("lease", kKnown), "lease-ms");
  EXPECT_EQ(nearest_name("deadline", kKnown), "deadline-us");
}

TEST(Misspelling, GuessesNothingFarAway) {
  for (const char* word : {"", "frobnicate", "lost-us", "to", "z"}) EXPECT_EQ(nearest_name(word, kKnown), std::nullopt) << word;
}

TEST(Misspelling, ExplainsFlagsWithoutTheirValues) {
  EXPECT_THAT(explain_strays({"--leese-ms", "5", "--leese-ms=5", "--frobnicate"}, kKnown),
              ElementsAre("there is no flag --leese-ms; did you mean --lease-ms?",
                          "there is no flag --leese-ms; did you mean --lease-ms?", "there is no flag --frobnicate"));
}

TEST(Misspelling, SaysInWhichSectionAnothersFlagGoes) {
  const std::vector<SectionFlags> sections{{"router", {"tune"}}, {"verifier", {"head-rule"}}};
  EXPECT_THAT(
      explain_strays({"--head-rule", "fixed:3", "--tone"}, kKnown, sections),
      ElementsAre("--head-rule is a flag of the verifier: write head-rule = ... below [verifier] in a file, and give that "
                  "to --config",
                  "there is no flag --tone"));
}

TEST(Misspelling, ExplainsACommandThatIsNone) {
  const std::vector<std::string> commands{"serve", "ask", "demo"};
  EXPECT_EQ(explain_command("sevre", commands), "there is no command \"sevre\"; did you mean serve?");
  EXPECT_EQ(explain_command("launch", commands), "there is no command \"launch\"; there are serve, ask, demo");
}

TEST(Misspelling, ExplainsWordsThatBelongToNoFlag) {
  EXPECT_THAT(explain_strays({"8080", "--leese-ms=5", "6"}, kKnown),
              ElementsAre("\"8080\" belongs to no flag", "there is no flag --leese-ms; did you mean --lease-ms?",
                          "\"6\" belongs to no flag"));
  EXPECT_THAT(explain_strays({"-", "--"}, kKnown), ElementsAre("there is no flag -", "there is no flag --"));
}

}  // namespace
}  // namespace slipstream
