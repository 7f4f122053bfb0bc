#include "services/router/acceptance_histogram.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using Steps = std::vector<uint32_t>;

Steps steps_of(const AcceptanceHistogram& histogram, int length) {
  const auto steps = histogram.of_length(length);
  return {steps.begin(), steps.end()};
}

TEST(AcceptanceHistogram, CountsAStepAtTheTokenThatNobodyDrafted) {
  AcceptanceHistogram histogram;
  for (const bool drafted : {true, true, false}) histogram.add(drafted, 3);  // two of three, and the target's own
  histogram.add(false, 3);                                                   // none of three
  histogram.add(false, 0);                                                   // no draft
  histogram.add(true, 1);
  histogram.add(false, 1);
  EXPECT_EQ(histogram.longest(), 3);
  EXPECT_EQ(steps_of(histogram, 0), Steps{1});
  EXPECT_EQ(steps_of(histogram, 1), (Steps{0, 1}));
  EXPECT_EQ(steps_of(histogram, 2), (Steps{0, 0, 0}));
  EXPECT_EQ(steps_of(histogram, 3), (Steps{1, 0, 1, 0}));
  EXPECT_EQ(histogram.of_all(), (Steps{2, 1, 1, 0}));
}

TEST(AcceptanceHistogram, CountsAStepThatTheAnswersEndCutsShort) {
  AcceptanceHistogram histogram;
  histogram.add(true, 2);
  EXPECT_EQ(histogram.longest(), -1);
  histogram.end_step();
  histogram.end_step();  // there is no step to end
  EXPECT_EQ(steps_of(histogram, 2), (Steps{0, 1, 0}));
}

TEST(AcceptanceHistogram, AcceptsNoMoreThanADraftIsLong) {  // as of a verifier that repeats another's half step
  AcceptanceHistogram histogram;
  for (int i = 0; i < 3; ++i) histogram.add(true, 2);
  histogram.add(false, 2);
  EXPECT_EQ(steps_of(histogram, 2), (Steps{0, 0, 1}));
}

TEST(AcceptanceHistogram, IsEmptyBeforeTheFirstToken) {
  EXPECT_EQ(AcceptanceHistogram().longest(), -1);
  EXPECT_TRUE(AcceptanceHistogram().of_all().empty());
}

}  // namespace
}  // namespace slipstream
