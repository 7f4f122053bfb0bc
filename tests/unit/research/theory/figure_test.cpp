#include "research/theory/figure.h"

#include <gmock/gmock.h>

namespace slipstream::theory {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Figure of(std::vector<Point> points, Series::Look look = Series::Look::line) {
  return {.title = "p < q & more", .x = {"across"}, .y = {"up"}, .series = {{"one", look, 0, std::move(points)}}};
}

TEST(Figure, HasRoundTicks) {
  EXPECT_THAT(ticks(0, 10, false), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(-0.05, 0.21, false), ElementsAre(-0.05, 0, 0.05, 0.1, 0.15000000000000002, 0.2));
  EXPECT_THAT(ticks(10, 20000, true), ElementsAre(10, 100, 1000, 10000));
  EXPECT_THAT(ticks(1, 12, true), ElementsAre(1, 2, 5, 10));
}

TEST(Figure, PutsTheLowestPointAtTheBottomLeft) {
  const std::string text = svg(of({{1, 10}, {2, 20}, {3, 30}}));
  const size_t at = text.find("points=\"") + 8;
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(text.c_str() + at, "%lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6);
  EXPECT_LT(x[0], x[1]);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11) << "a linear axis";
  EXPECT_GT(y[0], y[1]) << "up is less in SVG";
  EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.11);
}

TEST(Figure, DrawsEveryLookAndEscapesWords) {
  for (const auto look :
       {Series::Look::line, Series::Look::dashed, Series::Look::dots, Series::Look::band, Series::Look::cloud}) {
    const std::string text = svg(of({{1, 10, 1, 0.1}, {2, 20, 2, 0.1}}, look));
    EXPECT_THAT(text, HasSubstr("p &lt; q &amp; more"));
    EXPECT_THAT(text, Not(HasSubstr("p < q")));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
  }
}

TEST(Figure, StandsASeriesOfOnePointOrOneValue) {
  EXPECT_THAT(svg(of({{1, 10}}, Series::Look::dots)), Not(HasSubstr("nan")));
  EXPECT_THAT(svg(of({{1, 0}, {2, 0}})), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace slipstream::theory
