#include "services/router/speculation_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

TEST(SpeculationCounts, TellStepsWithADraftAndHowDeepTheyWereAccepted) {
  AcceptanceHistogram histogram;
  histogram.add(true, 3);  // a draft of depth 3, of which two tokens are accepted
  histogram.add(true, 3);
  histogram.add(false, 3);
  histogram.add(false, 2);  // one of which none is
  histogram.add(false, 0);  // a plain step
  SpeculationCounts counts;
  counts.add({.steps = 3, .received = 9, .accepted = 2, .rejected = 3, .unreached = 1, .late = 3}, histogram, 10);
  EXPECT_EQ(counts.drafts, 2U);
  EXPECT_EQ(counts.draft_tokens, 6U);
  EXPECT_EQ(counts.accepted_tokens, 2U);
  EXPECT_THAT(counts.accepted_at, ElementsAre(1, 1, 0, 0, 0, 0, 0, 0));
}

TEST(SpeculationCounts, AddUpOverRequests) {
  SpeculationCounts counts;
  for (int request = 0; request < 3; ++request) counts.add({.accepted = 2, .cached_tokens = 4}, {}, 10);
  EXPECT_EQ(counts.accepted_tokens, 6U);
  EXPECT_EQ(counts.prompt_tokens, 30U);
  EXPECT_EQ(counts.cached_tokens, 12U);
}

// Which a verifier says.
TEST(SpeculationCounts, BelieveNoMoreCachedTokensThanThePromptHas) {
  SpeculationCounts counts;
  counts.add({.cached_tokens = 400}, {}, 10);
  EXPECT_EQ(counts.cached_tokens, 10U);
}

TEST(SpeculationCounts, TellNoPositionBehindTheLast) {
  AcceptanceHistogram deep;
  for (int token = 0; token < 12; ++token) deep.add(true, 12);
  deep.add(false, 12);
  SpeculationCounts counts;
  counts.add({}, deep, 1);
  EXPECT_THAT(counts.accepted_at, testing::Each(1U));
}

}  // namespace
}  // namespace slipstream
