#include "tools/slipstream/load/trace.h"

#include <gmock/gmock.h>

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(std::string_view text) {
  const auto trace = parse_trace(text, 1);
  return trace ? "none" : trace.error().message;
}

TEST(Trace, BeginsWithItsFirstRequestAndKeepsTheGaps) {
  const auto trace = parse_trace(
      "{\"at_ms\": 1000, \"prompt\": \"a\", \"max_tokens\": 5}\n\n"
      "{\"at_ms\": 1250.5, \"messages\": [{\"role\": \"user\", \"content\": \"b\"}], \"more\": 1}\r\n",
      1);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->times, ElementsAre(Offset(0), std::chrono::microseconds(250'500)));
  EXPECT_EQ(trace->prompts[0].text, "a");
  EXPECT_EQ(trace->prompts[0].max_tokens, 5);
  EXPECT_EQ(trace->prompts[1].messages, R"([{"role":"user","content":"b"}])");
  EXPECT_EQ(trace->prompts[1].max_tokens, 0);
}

TEST(Trace, IsReplayedFasterIfToldSo) {
  const auto trace = parse_trace("{\"at_ms\": 0, \"prompt\": \"a\"}\n{\"at_ms\": 300, \"prompt\": \"b\"}", 3);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->times.back(), milliseconds(100));
}

TEST(Trace, SaysWhichLineIsWrongAndHowOneLooks) {
  EXPECT_THAT(problem("{\"at_ms\": 0, \"prompt\": \"a\"}\nhello"),
              HasSubstr("line 2 is no JSON object; write it as {\"at_ms\""));
  EXPECT_THAT(problem("{\"prompt\": \"a\"}"), HasSubstr("line 1 needs \"at_ms\""));
  EXPECT_THAT(problem("{\"at_ms\": -1, \"prompt\": \"a\"}"), HasSubstr("line 1 needs \"at_ms\", a number from 0"));
  EXPECT_THAT(problem("{\"at_ms\": 0}"), HasSubstr("line 1 needs \"prompt\", a text, or \"messages\""));
  EXPECT_THAT(problem("{\"at_ms\": 0, \"messages\": []}"), HasSubstr("line 1 needs \"prompt\""));
  EXPECT_THAT(problem("{\"at_ms\": 0, \"prompt\": \"a\", \"max_tokens\": 0}"), HasSubstr("no number from 1 on"));
  EXPECT_THAT(problem("{\"at_ms\": 9, \"prompt\": \"a\"}\n{\"at_ms\": 8, \"prompt\": \"b\"}"),
              HasSubstr("sort the lines by \"at_ms\""));
  EXPECT_THAT(problem("\n \n"), HasSubstr("there is no request in it"));
}

TEST(Trace, ThatIsNotThereIsNamed) {
  const auto trace = read_trace("no/such/trace.jsonl", 1);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "cannot read no/such/trace.jsonl; is the path right?");
}

}  // namespace
}  // namespace slipstream::command::load
