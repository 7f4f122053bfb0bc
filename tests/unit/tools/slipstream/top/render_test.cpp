#include "tools/slipstream/top/render.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::command::top {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Screen full_screen() {
  Screen screen{.url = "http://a:1", .model = "demo", .span_s = 10};
  screen.router = {
      .running = 3, .tokens_per_s = 212.44, .drafted_share = 0.5, .first_token = Percentiles{.p50 = 0.024, .p99 = 1.5}};
  screen.tokens_a_step = 3.1;
  screen.verifiers = {
      {.name = "47f6b1a3", .state = "ready", .what = "cpu", .read = true, .streams = 3, .busy = 0.76, .step_s = 0.0181}};
  screen.drafters = {{.name = "00000066", .state = "ready", .what = "ngram", .asks_per_s = 12}};
  screen.depths = {{"1", 40, 20}, {"2", 20, 5}};
  screen.kinds = {{.name = "ngram", .drafters = 1, .node_gain = 0.5, .node_cost = 0.1}};
  screen.thresholds = {{"ngram", 0.62, 5, "less likely nodes do not pay", 0.1, 0.2}};
  return screen;
}

size_t columns(const std::string& row) {
  return static_cast<size_t>(
      std::ranges::count_if(row, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

TEST(Rendered, ShowsWhatTheScreenHas) {
  const auto rows = render(full_screen(), {});
  EXPECT_THAT(rows, Contains(HasSubstr("3 running")));
  EXPECT_THAT(rows, Contains(HasSubstr("212.4 a second, 50 % of them drafted; 3.10 a step")));
  EXPECT_THAT(rows, Contains(HasSubstr("p50  24.0 ms")));
  EXPECT_THAT(rows, Contains(HasSubstr("p99   1.50 s")));
  EXPECT_THAT(rows, Contains(testing::AllOf(StartsWith("47f6b1a3"), HasSubstr("76 %"), HasSubstr("18.1 ms"))));
  EXPECT_THAT(rows, Contains(testing::AllOf(StartsWith("00000066"), HasSubstr("page not reached"), HasSubstr("12.0"))));
  EXPECT_THAT(rows, Contains(HasSubstr("############............  50 %")));
  EXPECT_THAT(rows, Contains(HasSubstr("less likely nodes do not pay")));
}

TEST(Rendered, ShowsADashWhereNothingIsKnown) {
  Screen screen = full_screen();
  screen.router.tokens_per_s.reset();
  EXPECT_THAT(render(screen, {}), Contains(HasSubstr("tokens        - a second")));
}

TEST(Rendered, FitsTheWindow) {
  for (const int width : {1, 20, 80}) {
    for (const int height : {1, 5, 12}) {
      const auto rows = render(full_screen(), {.columns = width, .rows = height, .blocks = true});
      EXPECT_EQ(rows.size(), static_cast<size_t>(height));
      for (const std::string& row : rows) EXPECT_LE(columns(row), static_cast<size_t>(width)) << row;
    }
  }
  EXPECT_THAT(render(full_screen(), {.columns = 80, .rows = 5}).back(), HasSubstr("more rows: make the window higher"));
}

TEST(Rendered, HasNoEscapesWithoutColoursWhateverAWorkerSays) {
  Screen screen = full_screen();
  screen.verifiers[0].what = "\x1b[2J evil";
  for (const std::string& row : render(screen, {})) EXPECT_THAT(row, Not(HasSubstr("\x1b")));
  EXPECT_THAT(render(screen, {.colours = true}), Contains(HasSubstr("?[2J evil")));
}

TEST(Rendered, ShowsTroubleInsteadOfWorkers) {
  Screen screen = full_screen();
  screen.trouble = "the router does not answer";
  const auto rows = render(screen, {});
  EXPECT_THAT(rows, Contains(std::string("the router does not answer")));
  EXPECT_THAT(rows, Not(Contains(StartsWith("47f6b1a3"))));
}

TEST(Bar, IsFilledByItsShare) {
  EXPECT_EQ(bar(0, 4, false), "....");
  EXPECT_EQ(bar(0.5, 4, false), "##..");
  EXPECT_EQ(bar(1, 4, false), "####");
  EXPECT_EQ(bar(7, 2, false), "##");
  EXPECT_EQ(bar(-1, 2, false), "..");
  EXPECT_EQ(bar(0.3125, 2, true), "\xe2\x96\x8b ");
}

}  // namespace
}  // namespace slipstream::command::top
