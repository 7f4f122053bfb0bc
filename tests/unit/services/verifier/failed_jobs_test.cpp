#include "services/verifier/failed_jobs.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

Result<int> failed() { return fail("the device is gone"); }

TEST(FailedJobs, OneAfterTheOtherEndTheProcess) {
  FailedJobs jobs;
  for (int job = 1; job < kFailedJobsMost; ++job) EXPECT_FALSE(jobs.one_too_many(failed()));
  EXPECT_TRUE(jobs.one_too_many(failed()));
  EXPECT_TRUE(jobs.given_up());
  EXPECT_EQ(jobs.newest(), "the device is gone");
}

TEST(FailedJobs, WithAGoodOneBetweenThemDoNot) {
  FailedJobs jobs;
  for (int job = 0; job < 4 * kFailedJobsMost; ++job) {
    EXPECT_FALSE(jobs.one_too_many(job % 2 == 0 ? failed() : Result<int>(1)));
  }
}

}  // namespace
}  // namespace slipstream
