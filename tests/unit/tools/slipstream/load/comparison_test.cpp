#include "tools/slipstream/load/comparison.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

WindowPair pair(double first, double second) {
  WindowPair pair;
  pair.first.tokens_per_s = first;
  pair.second.tokens_per_s = second;
  return pair;
}

std::optional<Ratio> tokens_ratio(const std::vector<WindowPair>& pairs) { return ratios(pairs).front().ratio; }

TEST(Comparison, OfSteadyServersIsTheirRatioWithNoWidth) {
  const auto ratio = tokens_ratio({pair(200, 100), pair(100, 50), pair(20, 10)});  // a machine that slows down harms both
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->mean, 2);
  EXPECT_NEAR(ratio->low, 2, 1e-9);
  EXPECT_NEAR(ratio->high, 2, 1e-9);
  EXPECT_EQ(ratio->pairs, 3u);
}

// Three logarithms -d, 0, d have the deviation d; the interval is 4.303 d / sqrt(3) to either side.
TEST(Comparison, HasStudentsIntervalOfTheLogarithms) {
  constexpr double kD = 0.1;
  const auto ratio = tokens_ratio({pair(std::exp(-kD), 1), pair(1, 1), pair(std::exp(kD), 1)});
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->mean, 1, 1e-12);
  EXPECT_NEAR(std::log(ratio->high), 4.303 * kD / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(std::log(ratio->low), -4.303 * kD / std::sqrt(3.0), 1e-9);
}

TEST(Comparison, SaysNothingOfOnePairOrOfWhatOneSideLacks) {
  EXPECT_FALSE(tokens_ratio({pair(2, 1)}));
  EXPECT_FALSE(tokens_ratio({pair(2, 1), pair(2, 0)})) << "a window without a token has no ratio";
  EXPECT_FALSE(ratios(std::vector{pair(2, 1), pair(2, 1)}).back().ratio) << "no latency was measured";
}

TEST(Comparison, IsMadeOfWhatAWindowMeasured) {
  Tally tally;
  Sample sample;
  sample.ending = Ending::complete;
  sample.chunks = {{std::chrono::milliseconds(20), 1}, {std::chrono::milliseconds(30), 1}};
  sample.ended = std::chrono::milliseconds(30);
  tally.add(sample);
  tally.ran_for(std::chrono::milliseconds(500));
  const WindowFigures figures = WindowFigures::of(tally);
  EXPECT_DOUBLE_EQ(*figures.tokens_per_s, 4);
  EXPECT_DOUBLE_EQ(*figures.ttft_ms, 20);
  EXPECT_DOUBLE_EQ(*figures.tpot_ms, 10);
  EXPECT_FALSE(WindowFigures::of(Tally()).ttft_ms);
}

TEST(StudentT, IsThatOfTheTablesAndThatOfThirtyBeyond) {
  EXPECT_DOUBLE_EQ(student_t975(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t975(5), 2.571);
  EXPECT_DOUBLE_EQ(student_t975(30), 2.042);
  EXPECT_DOUBLE_EQ(student_t975(1000), 2.042);
}

}  // namespace
}  // namespace slipstream::command::load
