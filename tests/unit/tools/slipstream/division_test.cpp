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

TEST(Division, LeavesACoreToRouterAndDrafterWhereThereAreEnough) {
  EXPECT_EQ(Division::of(2).verifier_threads, 2);
  EXPECT_EQ(Division::of(8).verifier_threads, 7);
  EXPECT_EQ(Division::of(8).words(), "8 CPUs: the verifier computes on 7; router and drafter share 1");
}

}  // namespace
}  // namespace slipstream::command
