#include "tools/slipstream/fleet_plan.h"

#include <gmock/gmock.h>

namespace slipstream::command {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CpuSplit, NeverGivesMoreThreadsThanCpus) {
  for (int cpus = 1; cpus <= 64; ++cpus) {
    const CpuSplit split = CpuSplit::of(cpus);
    EXPECT_GE(split.verifier_threads, 1);
    EXPECT_LE(split.verifier_threads, cpus);
  }
}

TEST(CpuSplit, SharesTheCoresWithADraftModel) {
  for (int cpus = 2; cpus <= 64; ++cpus) {
    const CpuSplit split = CpuSplit::with_draft_model(cpus);
    EXPECT_EQ(split.verifier_threads + split.drafter_threads, cpus);
    EXPECT_GE(split.verifier_threads, split.drafter_threads);
  }
  EXPECT_EQ(CpuSplit::with_draft_model(1).drafter_threads, 1);
  EXPECT_EQ(CpuSplit::with_draft_model(1).words(),
            "1 CPU: verifier and drafter share it, so that most trees will come too late; give them two (--threads)");
  EXPECT_EQ(CpuSplit::with_draft_model(2).words(), "2 CPUs: the verifier computes on 1, the drafter on 1");
}

TEST(CpuSplit, LeavesACoreToRouterAndDrafterWhereThereAreEnough) {
  EXPECT_EQ(CpuSplit::of(2).verifier_threads, 2);
  EXPECT_EQ(CpuSplit::of(8).verifier_threads, 7);
  EXPECT_EQ(CpuSplit::of(8).words(), "8 CPUs: the verifier computes on 7; router and drafter share 1");
}

TEST(FleetOptions, WaitsForAModelsTreeAsItsMethodNeedsUnlessItIsTold) {
  EXPECT_EQ(deadline_of({.drafter = "small-lm"}), 200'000U);
  EXPECT_EQ(deadline_of({.drafter = "ngram"}), 3000U);
  EXPECT_EQ(deadline_of({.drafter = "small-lm", .deadline_us = 7000}), 7000U);
}

TEST(FleetOptions, LetsItsRouterAllowTheRulesThatItIsGiven) {
  EXPECT_THAT(router_flags({.drafter = "ngram", .rules = "coupled,pareto"}),
              ElementsAre("--deadline-us", "3000", "--trust", "local", "--rules", "coupled,pareto"));
  EXPECT_THAT(router_flags({.drafter = "ngram"}), Not(Contains("--rules"))) << "the router has a default of its own";
}

TEST(FleetOptions, SaysHowLongADrafterIsWaitedForAndThatItIsTrusted) {
  EXPECT_THAT(drafting_words({.drafter = "small-lm"}),
              AllOf(HasSubstr("200 ms"), HasSubstr("--deadline-us"), HasSubstr("5 %"), HasSubstr("trusted")));
  EXPECT_THAT(drafting_words({.drafter = "ngram", .deadline_us = 500, .wait_percent = 80}),
              AllOf(HasSubstr("0.5 ms"), HasSubstr("80 %")));
  EXPECT_EQ(drafting_words({.drafter = "none", .resident = "none"}), "no drafter: all is decoded plainly");
  EXPECT_THAT(drafting_words({.drafter = "none"}), HasSubstr("the verifier drafts by ngram itself"));
}

TEST(FleetOptions, GivesTheFileOfAnswersToOneProcessOnly) {
  const auto flags = [](const char* drafter, const char* resident, const char* service) {
    return look_up_flags({.drafter = drafter, .resident = resident, .corpora = {"a", "b"}, .look_up_file = "f"}, service);
  };
  const auto both = ElementsAre("--look-up-corpus", "a", "--look-up-corpus", "b");
  const auto with_file = ElementsAre("--look-up-corpus", "a", "--look-up-corpus", "b", "--look-up-file", "f");
  EXPECT_THAT(flags("ngram", "ngram", "verifier"), with_file);
  EXPECT_THAT(flags("ngram", "ngram", "drafter"), both);
  EXPECT_THAT(flags("ngram", "none", "drafter"), with_file);
  EXPECT_TRUE(flags("ngram", "none", "verifier").empty());
  EXPECT_TRUE(flags("small-lm", "ngram", "drafter").empty());
}

TEST(FleetOptions, RefusesACorpusWhereNothingLooksUp) {
  const auto plan = FleetPlan::make({.drafter = "none", .resident = "none", .corpora = {"a"}});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("--resident ngram"));
}

}  // namespace
}  // namespace slipstream::command
