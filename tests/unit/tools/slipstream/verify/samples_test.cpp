#include "tools/slipstream/verify/samples.h"

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ServerUnderTest side(bool slipstream, bool logprobs) {
  ServerUnderTest side;
  side.defaults.standard = !slipstream;
  side.ids = slipstream;
  side.logprobs = logprobs;
  return side;
}

Answer answer() {
  Answer answer;
  answer.text = "äb c";
  answer.ids = {7, 300, 5};
  answer.pieces = {"ä", "b", " c"};
  answer.logprob_tokens = {"ä", "b", " c"};
  return answer;
}

TEST(Samples, AreCutByTheFinestThatBothSidesGive) {
  EXPECT_EQ(common_unit({side(true, false), side(true, false)}), Unit::token_id);
  EXPECT_EQ(common_unit({side(false, true), side(false, true)}), Unit::logprob_token);
  EXPECT_EQ(common_unit({side(true, false), side(false, true)}), Unit::character);
  EXPECT_EQ(common_unit({side(false, true), side(false, false)}), Unit::character);
}

TEST(Samples, AreNotCutByIdsThatASlipstreamsGatewayTakesAway) {
  ServerUnderTest bare = side(true, true);
  bare.ids = false;
  EXPECT_EQ(common_unit({bare, side(true, true)}), Unit::logprob_token);
}

TEST(Samples, ByTokenIdKeepWhatWasSpentUpToEach) {
  Answer told = answer();
  told.spent_until = {0, 0.25, 0.5};
  EXPECT_THAT(cut(told, Unit::token_id, 2).spent, ElementsAre(0, 0.25));
  EXPECT_THAT(cut(told, Unit::character, 2).spent, IsEmpty());
}

TEST(Samples, ByTokenIdKeepWhereADraftStood) {
  Answer told = answer();
  told.drafted = {0, 1, 0};
  told.depths = {0, 2, 2};
  EXPECT_THAT(cut(told, Unit::token_id, 2).drafted, ElementsAre(0, 1));
  EXPECT_THAT(cut(answer(), Unit::token_id, 2).drafted, IsEmpty()) << "it does not say";
}

TEST(Samples, ByTokenIdKeepWhatEachSays) {
  const Sample sample = cut(answer(), Unit::token_id, 2);
  EXPECT_THAT(sample.units, ElementsAre("7", "300"));
  EXPECT_EQ(sample.texts[1], "b");
}

TEST(Samples, ByCharacterCutNoneInTwo) {
  EXPECT_THAT(cut(answer(), Unit::character, 3).units, ElementsAre("ä", "b", " "));
  EXPECT_THAT(cut(answer(), Unit::character, 9).units, ElementsAre("ä", "b", " ", "c"));
}

TEST(Samples, ByLogprobsStopAtTheLimitToo) { EXPECT_THAT(cut(answer(), Unit::logprob_token, 1).units, ElementsAre("ä")); }

TEST(Samples, OfAnEmptyAnswerAreEmpty) { EXPECT_THAT(cut({}, Unit::character, 3).units, IsEmpty()); }

}  // namespace
}  // namespace slipstream::command::verify
