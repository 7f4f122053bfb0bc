#include "common/drafting/context_words.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A head drafts the even tokens by itself.
class ContextWordsTest : public testing::Test {
 protected:
  ContextWordsTest() {
    for (TokenId token = 0; token < 1000; token += 2) vocabulary_.allow(token);
  }
  std::span<const TokenId> after(const std::vector<TokenId>& tokens) {
    words_.read(tokens, vocabulary_);
    return words_.latest();
  }

  TokenMask vocabulary_{1000};
  ContextWords words_;
};

TEST_F(ContextWordsTest, AreTheTokensThatTheHeadDoesNotHave) {
  EXPECT_THAT(after({2, 4}), IsEmpty());
  EXPECT_THAT(after({2, 4, 7, 8, 3}), ElementsAre(3, 7));
}

TEST_F(ContextWordsTest, StandInTheOrderInWhichTheyWereSaidLast) {
  EXPECT_THAT(after({1, 3, 5, 1}), ElementsAre(1, 5, 3));
  EXPECT_THAT(after({1, 3, 5, 1, 3}), ElementsAre(3, 1, 5)) << "only the last token is new";
}

TEST_F(ContextWordsTest, ThatWereSaidLongAgoMakeWayForOthers) {
  std::vector<TokenId> tokens(kContextWordsMax + 2);
  std::iota(tokens.begin(), tokens.end(), 0);
  for (TokenId& token : tokens) token = 2 * token + 1;
  const auto latest = after(tokens);
  ASSERT_EQ(latest.size(), kContextWordsMax);
  EXPECT_EQ(latest.front(), tokens.back());
  EXPECT_EQ(latest.back(), tokens[2]);
}

}  // namespace
}  // namespace slipstream
