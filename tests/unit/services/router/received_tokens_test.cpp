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

// Of a round that began at this output index.
TreeReport report_at(int32_t first_index) {
  return {.first_index = first_index, .own = 1, .proposers = {{"ngram", ""}}, .nodes = {{.token = 3}}};
}

std::vector<int32_t> told(const ReceivedTokens::Taken& taken) {
  std::vector<int32_t> firsts;
  for (const TreeReport& tree : taken.trees) firsts.push_back(tree.first_index);
  return firsts;
}

// The copy brings one token more; and a verifier that takes over cuts its rounds elsewhere.
TEST(ReceivedTokens, TellEachTreeOnce) {
  ReceivedTokens received(100, false, 0, 4);
  Tokens message = tokens(0, 3, 2);
  message.trees = {report_at(0), report_at(2)};
  EXPECT_EQ(told(received.take(message, kOutputMax)), (std::vector<int32_t>{0, 2}));
  Tokens longer = tokens(0, 4, 3);
  longer.trees = {report_at(0), report_at(2), report_at(3)};
  EXPECT_EQ(told(received.take(longer, kOutputMax)), (std::vector<int32_t>{3}));
  received.begin_epoch();
  Tokens other = tokens(2, 7, 2);
  other.trees = {report_at(2), report_at(5)};
  EXPECT_EQ(told(received.take(other, kOutputMax)), (std::vector<int32_t>{5})) << "a part of the first was told already";
}

TEST(ReceivedTokens, RefuseTreesThatNobodyAskedForOrThatHoldUnknownTokens) {
  const auto arrival = [](int32_t asked, TreeReport report) {
    ReceivedTokens received(100, false, 0, asked);
    Tokens message = tokens(0, 1, 1);
    message.trees = {std::move(report)};
    return received.take(message, kOutputMax).arrival;
  };
  EXPECT_EQ(arrival(1, report_at(0)), ReceivedTokens::Arrival::fresh);
  EXPECT_EQ(arrival(0, report_at(0)), ReceivedTokens::Arrival::invalid);
  TreeReport unknown = report_at(0);
  unknown.nodes[0].token = 100;
  EXPECT_EQ(arrival(1, unknown), ReceivedTokens::Arrival::invalid);
  unknown = report_at(0);
  unknown.own = 100;
  EXPECT_EQ(arrival(1, unknown), ReceivedTokens::Arrival::invalid);
}

}  // namespace
}  // namespace slipstream
