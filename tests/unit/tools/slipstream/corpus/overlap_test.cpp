#include "tools/slipstream/corpus/overlap.h"

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

TEST(Overlap, IsEightWordsInARow) {
  Overlap overlap;
  overlap.exclude("Write a polite letter to the customer Ms Weber who complains");
  EXPECT_TRUE(overlap.meets("Please write a polite letter to the customer Ms Hansen"));
  EXPECT_FALSE(overlap.meets("Please write a polite letter to the customer of a shop"));
}

TEST(Overlap, SeesNeitherCaseNorPunctuation) {
  Overlap overlap;
  overlap.exclude("one two three four five six seven eight");
  EXPECT_TRUE(overlap.meets("ONE, two: three - four. Five six\nseven (eight)"));
}

TEST(Overlap, TakesAShortPromptAsAWhole) {
  Overlap overlap;
  overlap.exclude("Who invented tea?");
  EXPECT_TRUE(overlap.meets("who invented tea"));
  EXPECT_FALSE(overlap.meets("who invented tea and coffee"));
  EXPECT_FALSE(overlap.meets("?!"));
}

}  // namespace
}  // namespace slipstream::command
