#include "common/ops_page/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Health, IsGoodWhileTheLoopTurnsAndJobsEnd) {
  EXPECT_THAT(why_stuck({}, 5s), IsEmpty());
  EXPECT_THAT(why_stuck({.loop = kLoopStuck - 1ms, .job = 5s - 1ms}, 5s), IsEmpty());
}

TEST(Health, EndsWithALoopThatNoLongerTurns) {
  EXPECT_THAT(why_stuck({.loop = kLoopStuck}, 5s), HasSubstr("event loop has not turned for 10.0 s"));
}

TEST(Health, EndsWithAJobThatRunsTooLong) { EXPECT_THAT(why_stuck({.job = 5s}, 5s), HasSubstr("--job-stuck-ms 5000")); }

// The loop is told first: a job's time is read by the loop.
TEST(Health, OfALoopThatHangsSaysNothingOfItsJob) {
  EXPECT_THAT(why_stuck({.loop = 20s, .job = 20s}, 5s), HasSubstr("event loop"));
}

}  // namespace
}  // namespace slipstream
