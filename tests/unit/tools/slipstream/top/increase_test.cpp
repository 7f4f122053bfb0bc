#include "tools/slipstream/top/increase.h"

#include <gtest/gtest.h>

namespace slipstream::command::top {
namespace {

Scrape page(const char* text) { return *Scrape::parse(text); }

TEST(Increase, IsTheDifferenceOfEachSeries) {
  const Scrape grown = increase(page("a{k=\"x\"} 3\na{k=\"y\"} 10\n"), page("a{k=\"x\"} 5\na{k=\"y\"} 10\n"));
  EXPECT_EQ(grown.sum("a", {{"k", "x"}}), 2);
  EXPECT_EQ(grown.sum("a", {{"k", "y"}}), 0);
}

TEST(Increase, CountsASeriesThatIsNewFromNothing) { EXPECT_EQ(increase(page("b 1\n"), page("a 4\nb 1\n")).sum("a"), 4); }

TEST(Increase, TakesAFallenCounterForARestart) { EXPECT_EQ(increase(page("a 100\n"), page("a 7\n")).sum("a"), 7); }

TEST(Increase, HasNoGrowthWhereAValueIsNotFinite) {
  EXPECT_EQ(increase(page("a 1\n"), page("a NaN\n")).sum("a"), 0);
  EXPECT_EQ(increase(page("a NaN\n"), page("a 3\n")).sum("a"), 3);
}

TEST(Increase, GivesQuantilesOfWhatCameBetween) {
  const Scrape before = page("t_bucket{le=\"1\"} 100\nt_bucket{le=\"2\"} 100\nt_bucket{le=\"+Inf\"} 100\n");
  const Scrape now = page("t_bucket{le=\"1\"} 100\nt_bucket{le=\"2\"} 110\nt_bucket{le=\"+Inf\"} 110\n");
  EXPECT_DOUBLE_EQ(increase(before, now).quantile("t", 0.5), 1.5);
}

}  // namespace
}  // namespace slipstream::command::top
