#include "common/runtime/log_gate.h"

#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr LogGate::Clock::time_point kStart{1h};

TEST(LogGate, SaysItOnceThenAtGrowingGapsWithACount) {
  LogGate gate;
  std::vector<long> said;
  std::vector<std::string> counts;
  for (auto at = 0s; at < 100s; at += 1s) {
    if (!gate.open(kStart + at)) continue;
    said.push_back(at.count());
    counts.push_back(gate.unsaid());
  }
  EXPECT_EQ(said, (std::vector<long>{0, 5, 15, 35, 75}));
  EXPECT_EQ(counts, (std::vector<std::string>{"", " (4 more like this before)", " (9 more like this before)",
                                              " (19 more like this before)", " (39 more like this before)"}));
}

TEST(LogGate, SaysItAtLeastEveryFiveMinutes) {
  LogGate gate;
  auto said = kStart;
  for (auto at = kStart; at < kStart + 2h; at += 2s) {
    if (gate.open(at)) said = at;
    EXPECT_LE(at - said, LogGate::kGapMost);
  }
}

TEST(LogGate, BeginsAnewAfterAQuietTime) {
  LogGate gate;
  for (auto at = 0s; at < 40s; at += 1s) gate.open(kStart + at);  // the last line at 35 s, the gap now 40 s
  EXPECT_FALSE(gate.open(kStart + 41s));
  EXPECT_TRUE(gate.open(kStart + 82s));
  EXPECT_TRUE(gate.open(kStart + 87s)) << "the shortest gap again";
}

}  // namespace
}  // namespace slipstream
