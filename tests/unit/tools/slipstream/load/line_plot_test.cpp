#include "tools/slipstream/load/line_plot.h"

#include <gmock/gmock.h>

namespace slipstream::command::load {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr double kEps = 1e-9;

TEST(Ticks, AreRoundNumbers) {
  EXPECT_THAT(ticks(0, 100, false), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(ticks(0, 1.1, false), ElementsAre(0, DoubleNear(0.2, kEps), DoubleNear(0.4, kEps), DoubleNear(0.6, kEps),
                                                DoubleNear(0.8, kEps), DoubleNear(1, kEps)));
  EXPECT_THAT(ticks(3, 60, true), ElementsAre(5, 10, 20, 50));
  EXPECT_THAT(ticks(1, 1e6, true), SizeIs(7)) << "powers of ten alone, where the axis is long";
}

TEST(LinePlot, DrawsEachLineFromItsLeastToItsGreatest) {
  const std::vector<Line> lines{{"a<b", {{0, 0}, {10, 5}}}};
  const std::string svg = line_plot({.title = "t", .x = "s"}, lines);
  EXPECT_THAT(svg, HasSubstr("points=\"64.0,240.0 670.0,30.0\""));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(LinePlot, ShowsOneValueAndZeroOnALogarithmicAxis) {
  for (const double value : {0.0, 5.0}) {
    const std::vector<Line> lines{{"a", {{value, value}}}};
    const std::string svg = line_plot({.title = "t", .x = "ms", .x_logarithmic = true, .y_logarithmic = true}, lines);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(LinePlot, HasRoomForTheNamesOfAllLines) {
  const std::vector<Line> lines(32, {"a", {{1, 1}}});
  const std::string svg = line_plot({.title = "t", .x = "s"}, lines);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 920 624\""));
  EXPECT_THAT(svg, HasSubstr("y=\"598.0\"")) << "the last of them";
}

TEST(LinePlot, SaysThatThereIsNothing) {
  EXPECT_THAT(line_plot({.title = "t", .x = "s"}, {}), HasSubstr("nothing was measured"));
}

}  // namespace
}  // namespace slipstream::command::load
