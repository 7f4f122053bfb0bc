#include "common/speculation/reliability.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Reliability, ComparesWhatWasExpectedWithWhatCame) {
  Reliability reliability;
  for (int node = 0; node < 10; ++node) reliability.verified(0.75, node < 5);
  EXPECT_EQ(reliability.bins()[7].nodes, 10U);
  EXPECT_EQ(reliability.bins()[7].accepted, 5U);
  EXPECT_NEAR(reliability.bins()[7].expected, 7.5, 1e-9);
  EXPECT_NEAR(reliability.error(), 0.25, 1e-9);
}

TEST(Reliability, LetsErrorsOfDifferentChancesNotMakeUpForEachOther) {
  Reliability reliability;
  reliability.verified(0.25, true);
  reliability.verified(0.75, false);
  EXPECT_NEAR(reliability.error(), 0.75, 1e-9);
}

TEST(Reliability, PutsCertaintyIntoTheLastBin) {
  Reliability reliability;
  reliability.verified(1, true);
  EXPECT_EQ(reliability.bins().back().nodes, 1U);
  EXPECT_EQ(reliability.error(), 0);
}

}  // namespace
}  // namespace slipstream
