#include "tools/slipstream/load/stream_reader.h"

#include <gmock/gmock.h>

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kRole = R"({"choices": [{"delta": {"role": "assistant", "content": ""}}]})";
constexpr const char* kText = R"({"choices": [{"delta": {"content": "hi"}}]})";
constexpr const char* kFinish = R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})";
constexpr const char* kUsage =
    R"({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}})";

class Stream : public testing::Test {
 protected:
  bool event(const char* data, int at_ms = 0) { return reader_.event(data, milliseconds(at_ms)); }

  Sample sample_;
  StreamReader reader_{sample_, 3};
};

TEST_F(Stream, StartsWithItsFirstTextAndNotWithTheRole) {
  event(kRole, 1);
  event(kText, 20);
  event(kText, 30);
  event(kFinish, 31);
  event("[DONE]", 31);
  reader_.end();
  EXPECT_EQ(sample_.ending, Ending::complete);
  ASSERT_EQ(sample_.chunks.size(), 2u);
  EXPECT_EQ(sample_.chunks[0].at, milliseconds(20));
  EXPECT_FALSE(sample_.chunk_tokens_known);
}

TEST_F(Stream, CountsReasoningAndToolCallsAsText) {
  event(R"({"choices": [{"delta": {"reasoning_content": "hm"}}]})");
  event(R"({"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]})");
  EXPECT_EQ(sample_.chunks.size(), 2u);
}

TEST_F(Stream, KnowsTheTokensOfASlipstreamsChunks) {
  event(R"({"choices": [{"delta": {"content": "a b c"}}], "slipstream": {"token_ids": [4, 5, 6]}})");
  EXPECT_EQ(reader_.fresh_tokens(), 3);
  event(R"({"choices": [{"delta": {"content": ""}}], "slipstream": {"token_ids": [7]}})");  // half a character
  EXPECT_TRUE(sample_.chunk_tokens_known);
  EXPECT_EQ(sample_.output_tokens(), 4);
}

TEST_F(Stream, ReadsTheServersOwnCount) {
  event(kText);
  event(kUsage);
  EXPECT_EQ(sample_.tokens_in, 9);
  EXPECT_EQ(sample_.tokens_out, 5);
  EXPECT_EQ(sample_.tokens_cached, 4);
  EXPECT_EQ(sample_.output_tokens(), 5);
}

TEST_F(Stream, IsCompleteWithAFinishReasonEvenWithoutDone) {
  event(kText);
  event(kFinish);
  reader_.end();
  EXPECT_EQ(sample_.ending, Ending::complete);
}

TEST_F(Stream, BreaksOffWhereItEndsInTheMiddle) {
  event(kText);
  reader_.end();
  EXPECT_EQ(sample_.ending, Ending::broke_off);
  EXPECT_THAT(sample_.problem, HasSubstr("the stream ended before the answer did"));
}

TEST_F(Stream, IsNoneIfItIsNoJsonOrHasNoEvents) {
  EXPECT_FALSE(event("<html>"));
  EXPECT_EQ(sample_.ending, Ending::no_answer);
  EXPECT_THAT(sample_.problem, HasSubstr("no JSON; is the URL that of an OpenAI-style API?"));
  Sample silent;
  StreamReader reader(silent, 3);
  reader.end();
  EXPECT_EQ(silent.ending, Ending::no_answer);
}

TEST_F(Stream, EndsWithTheServersOwnError) {
  event(kText);
  EXPECT_FALSE(event(R"({"error": {"message": "The verifier was lost."}})"));
  reader_.end();
  EXPECT_EQ(sample_.ending, Ending::server_error);
  EXPECT_EQ(sample_.problem, "The verifier was lost.");
}

TEST_F(Stream, EndsWithAnErrorThatIsAWord) {
  event(kText);
  EXPECT_FALSE(event(R"({"error": "out of memory"})"));
  EXPECT_EQ(sample_.ending, Ending::server_error);
  EXPECT_EQ(sample_.problem, "out of memory");
}

TEST_F(Stream, IsNoAnswerIfItOnlyEnds) {
  event("[DONE]");
  reader_.end();
  EXPECT_EQ(sample_.ending, Ending::no_answer);
}

TEST_F(Stream, IsEndlessBeyondItsLimitOfChunks) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(event(kText));
  EXPECT_FALSE(event(kText));
  EXPECT_EQ(sample_.ending, Ending::endless);
  EXPECT_EQ(sample_.chunks.size(), 3u);
}

}  // namespace
}  // namespace slipstream::command::load
