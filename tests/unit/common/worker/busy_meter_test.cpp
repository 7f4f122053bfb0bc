#include "common/worker/busy_meter.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;

TEST(BusyMeter, TellsTheShareOfTheLastWholeWindow) {
  BusyMeter meter;
  meter.add(300ms);
  EXPECT_EQ(meter.share(999ms), 0.0F);
  EXPECT_FLOAT_EQ(meter.share(1200ms), 0.25F);
  EXPECT_FLOAT_EQ(meter.share(1300ms), 0.25F) << "until the next window has ended";
  EXPECT_EQ(meter.share(2200ms), 0.0F);
}

TEST(BusyMeter, AJobLongerThanItsWindowIsAllOfIt) {
  BusyMeter meter;
  meter.add(5s);
  EXPECT_EQ(meter.share(1s), 1.0F);
}

}  // namespace
}  // namespace slipstream
