// The trace of stages.h with one verifier and five drafters. The table of 20 verifiers and 100
// drafters is `make stages`.
#include "tests/sim/tuning/stages.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace slipstream::sim {
namespace {

class TunedStages : public testing::Test {
 protected:
  static double all(const StagesReport& report) { return std::accumulate(report.settled.begin(), report.settled.end(), 0.0); }
  static const StagesReport& plain() {
    static const StagesReport report = live_stages({}, {.drafts = false});
    return report;
  }
  static StagesReport tuned(float first) { return live_stages({}, {.tunes = true, .threshold = first}); }
};

TEST_F(TunedStages, AreAsFastAsTheBestThresholdThatStays) {
  double best = 0;
  for (const float h : {0.2F, 0.4F, 0.5F, 0.6F, 1.0F}) best = std::max(best, all(live_stages({}, {.threshold = h})));
  EXPECT_GE(best, 1.5 * all(plain())) << "drafts pay";
  for (const float first : {0.1F, 0.99F}) EXPECT_GE(all(tuned(first)), 0.95 * best) << "from " << first;
}

// Neither where nothing can be gained, nor while the tuner looks for the new threshold. In the
// first seconds of a stage answers of the one before end, and of plain ones more are left.
TEST_F(TunedStages, AreNeverMuchSlowerThanPlain) {
  const StagesReport report = tuned(0.99F);
  ASSERT_EQ(report.tokens.size(), plain().tokens.size());
  constexpr size_t kWindows = kStageTakes / kWindow - 1, kOfBefore = 2;  // of a stage; that have tokens of the one before
  for (size_t window = 0; window < report.tokens.size(); ++window) {
    if (window % kWindows < kOfBefore) continue;
    EXPECT_GE(report.tokens[window], 0.9 * plain().tokens[window]) << "second " << window;
  }
  for (size_t stage = 0; stage < std::size(kStages); ++stage) {
    EXPECT_GE(report.settled[stage], 0.95 * plain().settled[stage]) << kStages[stage].name;
  }
}

}  // namespace
}  // namespace slipstream::sim
