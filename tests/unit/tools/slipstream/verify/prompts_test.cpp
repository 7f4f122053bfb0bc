#include "tools/slipstream/verify/prompts.h"

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto prompts = parse_prompts(text);
  return prompts ? "" : prompts.error().message;
}

TEST(Prompts, ArePlainLines) {
  EXPECT_THAT(*parse_prompts("why?\r\n\n  how so\nlast"), ElementsAre("why?", "  how so", "last"));
}

TEST(Prompts, AreJsonLinesIfTheFirstIs) {
  EXPECT_THAT(*parse_prompts("{\"id\": 1, \"prompt\": \"a\\nb\"}\n\"c\"\n{\"text\": \"d\"}\n"), ElementsAre("a\nb", "c", "d"));
}

TEST(Prompts, SayWhichLineIsWrong) {
  EXPECT_THAT(error_of("\"a\"\n\nplain\n"), HasSubstr("line 3 is no JSON"));
  EXPECT_THAT(error_of("{\"prompt\": \"a\"}\n{\"turns\": []}\n"), HasSubstr("line 2 has no prompt"));
  EXPECT_THAT(error_of("\"\"\n"), HasSubstr("empty prompt"));
  EXPECT_THAT(error_of("\n \n"), HasSubstr("there is no prompt"));
}

TEST(Prompts, OfAFileThatIsNotThereAreAnErrorThatNamesIt) {
  EXPECT_THAT(read_prompts("no/such/file").error().message, HasSubstr("no/such/file"));
}

TEST(Prompts, WeBringSomeOfOurOwn) { EXPECT_GE(built_in_prompts().size(), 8U); }

}  // namespace
}  // namespace slipstream::command::verify
