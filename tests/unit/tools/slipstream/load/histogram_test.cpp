#include "tools/slipstream/load/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

using std::chrono::nanoseconds;

TEST(LatencyHistogram, FindsEveryQuantileWithinItsStatedError) {
  std::mt19937_64 random(1);
  for (const int bits : {kFineBits, kCoarseBits}) {
    LatencyHistogram histogram(bits);
    std::vector<int64_t> all;
    for (int i = 0; i < 20'000; ++i) {
      all.push_back(static_cast<int64_t>(std::exp(static_cast<double>(random() % 28'000) / 1000)));  // 1 ns to 24 minutes
      histogram.add(nanoseconds(all.back()));
    }
    std::ranges::sort(all);
    const double bound = std::ldexp(1.0, -(bits + 1));
    for (const double q : {0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
      const int64_t exact = all[static_cast<size_t>(std::ceil(q * static_cast<double>(all.size()))) - 1];
      const auto found = static_cast<double>(histogram.quantile(q).count());
      EXPECT_LE(std::abs(found - static_cast<double>(exact)), bound * static_cast<double>(exact)) << bits << " bits, " << q;
    }
  }
}

TEST(LatencyHistogram, KnowsSmallDurationsExactly) {
  LatencyHistogram histogram;
  for (int ns = 0; ns < 512; ++ns) histogram.add(nanoseconds(ns));
  EXPECT_EQ(histogram.quantile(0.5).count(), 255);
  EXPECT_EQ(histogram.quantile(0).count(), 0);
  EXPECT_EQ(histogram.quantile(1).count(), 511);
}

TEST(LatencyHistogram, KeepsMeanAndBothEndsExactly) {
  LatencyHistogram histogram;
  histogram.add(std::chrono::milliseconds(1), 3);
  histogram.add(nanoseconds(9'000'001));
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.mean().count(), 3'000'000);
  EXPECT_EQ(histogram.least().count(), 1'000'000);
  EXPECT_EQ(histogram.greatest().count(), 9'000'001);
  EXPECT_EQ(histogram.quantile(1).count(), 9'000'001) << "no quantile lies beyond the greatest";
}

TEST(LatencyHistogram, KnowsAnAnswerThatWaitedForDays) {
  LatencyHistogram histogram;
  histogram.add(std::chrono::hours(3));
  histogram.add(std::chrono::hours(7 * 24));
  EXPECT_EQ(histogram.greatest(), Duration(std::chrono::hours(7 * 24)));
  EXPECT_NEAR(std::chrono::duration<double>(histogram.quantile(0.5)).count(), 3 * 3600, 3 * 3600 * 0.002);
}

TEST(LatencyHistogram, CountsWhatIsBeyondItsRangeAtItsEnds) {
  LatencyHistogram histogram;
  histogram.add(nanoseconds(-5));
  histogram.add(std::chrono::hours(1000));
  EXPECT_EQ(histogram.least().count(), 0);
  EXPECT_EQ(histogram.greatest(), Duration(kDurationMax));
}

TEST(LatencyHistogram, OfTwoPartsIsThatOfTheWhole) {
  LatencyHistogram part, other, whole;
  for (int i = 1; i < 1000; ++i) {
    (i % 3 == 0 ? part : other).add(nanoseconds(i * i * 1000));
    whole.add(nanoseconds(i * i * 1000));
  }
  part.merge(other);
  EXPECT_EQ(part.count(), whole.count());
  EXPECT_EQ(part.mean(), whole.mean());
  for (const double q : {0.1, 0.5, 0.99}) EXPECT_EQ(part.quantile(q), whole.quantile(q));
}

TEST(LatencyHistogram, IsZeroWhileItIsEmpty) {
  const LatencyHistogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.quantile(0.5).count(), 0);
  EXPECT_EQ(histogram.mean().count(), 0);
  EXPECT_EQ(histogram.least().count(), 0);
}

}  // namespace
}  // namespace slipstream::command::load
