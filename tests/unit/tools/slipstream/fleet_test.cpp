#include "tools/slipstream/fleet.h"

#include <gmock/gmock.h>

namespace slipstream::command {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Fleet, WaitsForAModelsTreeAsItsMethodNeedsUnlessItIsTold) {
  EXPECT_EQ(deadline_of({.drafter = "small-lm"}), 200'000U);
  EXPECT_EQ(deadline_of({.drafter = "ngram"}), 3000U);
  EXPECT_EQ(deadline_of({.drafter = "small-lm", .deadline_us = 7000}), 7000U);
}

TEST(Fleet, LetsItsRouterAllowTheRulesThatItIsGiven) {
  EXPECT_THAT(router_flags({.drafter = "ngram", .rules = "coupled,pareto"}),
              ElementsAre("--deadline-us", "3000", "--trust", "local", "--rules", "coupled,pareto"));
  EXPECT_THAT(router_flags({.drafter = "ngram"}), Not(Contains("--rules"))) << "the router has a default of its own";
}

TEST(Fleet, SaysHowLongADrafterIsWaitedForAndThatItIsTrusted) {
  EXPECT_THAT(drafting_words({.drafter = "small-lm"}),
              AllOf(HasSubstr("200 ms"), HasSubstr("--deadline-us"), HasSubstr("5 %"), HasSubstr("trusted")));
  EXPECT_THAT(drafting_words({.drafter = "ngram", .deadline_us = 500, .wait_percent = 80}),
              AllOf(HasSubstr("0.5 ms"), HasSubstr("80 %")));
  EXPECT_EQ(drafting_words({.drafter = "none"}), "no drafter: all is decoded plainly");
}

}  // namespace
}  // namespace slipstream::command
