#include "tools/slipstream/division.h"

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

TEST(Division, NeverGivesMoreThreadsThanCpus) {
  for (int cpus = 1; cpus <= 64; ++cpus) {
    const Division division = Division::of(cpus);
    EXPECT_GE(division.verifier_threads, 1);
    EXPECT_LE(division.verifier_threads, cpus);
  }
}

TEST(Division, SharesTheCoresWithADraftModel) {
  for (int cpus = 2; cpus <= 64; ++cpus) {
    const Division division = Division::with_draft_model(cpus);
    EXPECT_EQ(division.verifier_threads + division.drafter_threads, cpus);
    EXPECT_GE(division.verifier_threads, division.drafter_threads);
  }
  EXPECT_EQ(Division::with_draft_model(1).drafter_threads, 1);
  EXPECT_EQ(Division::with_draft_model(1).words(),
            "1 CPU: verifier and drafter share it, so that most trees will come too late; give them two (--threads)");
  EXPECT_EQ(Division::with_draft_model(2).words(), "2 CPUs: the verifier computes on 1, the drafter on 1");
}

TEST(Division, LeavesACoreToRouterAndDrafterWhereThereAreEnough) {
  EXPECT_EQ(Division::of(2).verifier_threads, 2);
  EXPECT_EQ(Division::of(8).verifier_threads, 7);
  EXPECT_EQ(Division::of(8).words(), "8 CPUs: the verifier computes on 7; router and drafter share 1");
}

}  // namespace
}  // namespace slipstream::command
