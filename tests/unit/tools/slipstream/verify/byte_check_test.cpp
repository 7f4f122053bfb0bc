#include "tools/slipstream/verify/byte_check.h"

#include <gtest/gtest.h>

namespace slipstream::command::verify {
namespace {

Answer answer(std::string text, std::vector<int32_t> ids = {}, std::string finish = "stop") {
  Answer answer;
  answer.text = std::move(text);
  answer.ids = std::move(ids);
  answer.finish = std::move(finish);
  return answer;
}

TEST(BytesCases, AskOnceAtTemperatureZeroAndWithEachSeedAbove) {
  const auto all = cases({.prompts = {"a", "b"}, .seeds = {1, 2, 3}, .temperatures = {0.0F, 0.7F}, .tokens_max = 4});
  EXPECT_EQ(all.size(), 2U * (1 + 3));
}

TEST(BytesDifference, OfEqualAnswersIsNone) {
  EXPECT_FALSE(difference({}, answer("same", {1, 2}), answer("same", {1, 2}), true));
}

TEST(BytesDifference, IsFoundToTheByteAndTheToken) {
  const auto found = difference({.prompt = 3, .seed = 7}, answer("one two", {1, 2}), answer("one too", {1, 3}), true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "text");
  EXPECT_EQ(found->byte, 5U);
  EXPECT_EQ(found->token, 1U);
  EXPECT_EQ(found->where.seed, 7);
  EXPECT_EQ(found->reference, "one two");
  EXPECT_EQ(found->candidate, "one too");
}

TEST(BytesDifference, KnowsWhatEitherServerSaysOfNearTies) {
  Answer tied = answer("two");
  tied.may_differ = true;
  EXPECT_TRUE(difference({}, answer("one"), tied, false)->near_tie);
  EXPECT_TRUE(difference({}, tied, answer("one"), false)->near_tie);
  EXPECT_FALSE(difference({}, answer("one"), answer("two"), false)->near_tie);
}

TEST(BytesDifference, OfALongerAnswerBeginsWhereTheShorterEnds) {
  const auto found = difference({}, answer("one"), answer("one more"), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byte, 3U);
  EXPECT_FALSE(found->token);
}

TEST(BytesDifference, ShowsWholeCharactersAroundIt) {
  std::string many;
  for (int i = 0; i < 50; ++i) many += "ä";
  const auto found = difference({}, answer(many + "x" + many), answer(many + "y" + many), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byte, 100U);
  EXPECT_TRUE(found->reference.starts_with("…ä")) << found->reference;
  EXPECT_TRUE(found->reference.ends_with("ä…")) << found->reference;
}

TEST(BytesDifference, WithinACharacterShowsTheWholeOfIt) {
  const auto found = difference({}, answer("ä"), answer("ö"), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byte, 1U);
  EXPECT_EQ(found->reference, "ä");
  EXPECT_EQ(found->candidate, "ö");
}

TEST(BytesDifference, OfIdsCountsThoughTheTextIsTheSame) {
  const auto found = difference({}, answer("ab", {1, 2}), answer("ab", {9}), true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "token ids");
  EXPECT_EQ(found->reference, "1 2");
  EXPECT_FALSE(difference({}, answer("ab", {1, 2}), answer("ab", {}), false)) << "one side gives none";
}

TEST(BytesDifference, OfTheEndCounts) {
  const auto found = difference({}, answer("ab", {1}, "stop"), answer("ab", {1}, "length"), true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "finish reason");
  EXPECT_EQ(found->candidate, "length");
}

}  // namespace
}  // namespace slipstream::command::verify
