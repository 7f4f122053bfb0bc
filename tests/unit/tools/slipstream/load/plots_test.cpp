#include "tools/slipstream/load/plots.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;

// Of the plot's first line.
std::ptrdiff_t points_of(const std::string& svg) {
  constexpr std::string_view kBegin = "points=\"";
  const size_t from = svg.find(kBegin) + kBegin.size();
  const std::string points = svg.substr(from, svg.find('"', from) - from);
  return std::ranges::count(points, ',');
}

Timeline timeline(std::vector<milliseconds> tokens_at) {
  Sample sample{.ending = Ending::complete, .ended = tokens_at.back(), .tokens_in = {}, .tokens_out = {}, .tokens_cached = {}};
  for (const milliseconds at : tokens_at) sample.chunks.push_back({at, 1});
  Timeline timeline;
  timeline.add(sample);
  return timeline;
}

TEST(ThroughputPlot, LeavesOutTheLastWindowWhichEndedBeforeItsTime) {
  EXPECT_EQ(points_of(throughput_plot(timeline({milliseconds(100), milliseconds(300), milliseconds(600)}))), 2);
}

TEST(ThroughputPlot, ShowsTheOnlyWindow) { EXPECT_EQ(points_of(throughput_plot(timeline({milliseconds(100)}))), 1); }

}  // namespace
}  // namespace slipstream::command::load
