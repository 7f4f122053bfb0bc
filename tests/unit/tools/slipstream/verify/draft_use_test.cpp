#include "tools/slipstream/verify/draft_use.h"

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Answer answer(std::vector<uint8_t> drafted, std::vector<uint8_t> depths, int64_t nodes = 1) {
  Answer answer;
  answer.ids.assign(drafted.size(), 7);
  answer.drafted = std::move(drafted);
  answer.depths = std::move(depths);
  answer.draft_nodes = nodes;
  return answer;
}

// The prompt's step; one whose tree of two was right once; one whose tree of one was right, and its
// own token after it; a plain one.
TEST(DraftUse, TellsWhereADraftStoodRightOrWrong) {
  EXPECT_THAT(drafted_places(answer({0, 1, 0, 1, 0, 0}, {0, 2, 2, 1, 1, 0})), ElementsAre(0, 1, 1, 1, 0, 0));
  EXPECT_THAT(drafted_places(answer({0, 0}, {0})), IsEmpty()) << "not told of each";
}

TEST(DraftUse, CountsAnswersWithADraftAtATokenThatIsCompared) {
  DraftUse drafting;
  drafting.add(answer({0, 0, 0, 1}, {0, 0, 0, 1}), 3);  // too late
  drafting.add(answer({0, 0, 1, 0}, {0, 0, 1, 1}), 3);
  EXPECT_EQ(drafting.answers, 2U);
  EXPECT_EQ(drafting.with, 1U);
  EXPECT_EQ(drafting.nodes, 2);
}

TEST(DraftUse, TakesTheSumWhereTokensAreNotTold) {
  DraftUse drafting;
  drafting.add(answer({}, {}, 3));
  drafting.add(answer({}, {}, 0));
  EXPECT_EQ(drafting.with, 1U);
  EXPECT_EQ(drafting.told, 2U);
  drafting.add(Answer{});
  EXPECT_EQ(drafting.told, 2U) << "it says nothing at all";
}

TEST(DraftUse, IsEnoughFromATenthOfTheAnswersOn) {
  EXPECT_TRUE((DraftUse{.answers = 1000, .with = 100}.enough()));
  EXPECT_FALSE((DraftUse{.answers = 1000, .with = 99}.enough()));
  EXPECT_FALSE((DraftUse{.answers = 499, .with = 1}.enough()));
}

}  // namespace
}  // namespace slipstream::command::verify
