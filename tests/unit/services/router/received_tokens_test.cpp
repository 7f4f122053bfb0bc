#include "services/router/received_tokens.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr int32_t kOutputMax = 20;

// Tokens [first, end), sent after so many steps of their sequence.
Tokens tokens(int32_t first, int32_t end, uint32_t steps) {
  Tokens made;
  made.first_index = first;
  for (int32_t i = first; i < end; ++i) made.ids.push_back(i);
  made.drafted.assign(made.ids.size(), 0);
  made.depths.assign(made.ids.size(), 0);
  made.report.steps = steps;
  return made;
}

uint32_t steps_counted(const ReceivedTokens& received) {
  uint32_t steps = 0;
  for (const uint32_t each : received.histogram().of_all()) steps += each;
  return steps;
}

// Three tokens by three steps. Then the verifier frees the sequence, a late copy of the Start
// begins it again, and it emits the same three by one step.
TEST(ReceivedTokens, CountTheStepsOfBothSequencesOfAnEpoch) {
  ReceivedTokens received(100);
  for (int32_t i = 0; i < 3; ++i) received.take(tokens(i, i + 1, static_cast<uint32_t>(i + 1)), kOutputMax);
  received.take(tokens(0, 3, 1), kOutputMax);
  EXPECT_EQ(received.report().steps, 3U);
  received.take(tokens(3, 4, 2), kOutputMax);
  EXPECT_EQ(received.report().steps, 5U);
  received.take(tokens(4, 5, 3), kOutputMax);
  EXPECT_EQ(received.report().steps, 6U);
  EXPECT_LE(steps_counted(received), received.report().steps);
}

TEST(ReceivedTokens, OfALateCopyChangeNoReport) {
  ReceivedTokens received(100);
  received.take(tokens(0, 1, 1), kOutputMax);
  received.take(tokens(1, 2, 2), kOutputMax);
  received.take(tokens(0, 1, 1), kOutputMax);
  received.take(tokens(2, 3, 3), kOutputMax);
  EXPECT_EQ(received.report().steps, 3U);
}

TEST(ReceivedTokens, KeepTheReportOfAFreedSequence) {
  ReceivedTokens received(100);
  received.take(tokens(0, 1, 1), kOutputMax);
  received.take(tokens(1, 2, 0), kOutputMax);
  EXPECT_EQ(received.report().steps, 1U);
}

}  // namespace
}  // namespace slipstream
