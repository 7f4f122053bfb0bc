// A drafter whose method reads features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kHead = 42;

DrafterConfig reads_features() {
  DrafterConfig made = drafter_config();
  made.features = {.head = kHead, .numbers = 2};
  made.room = {.tokens = 100, .beside = 10};
  return made;
}

class DrafterOfFeatures : public testing::Test {
 protected:
  DrafterOfFeatures() { attach(kHead); }
  void attach(uint64_t head) {
    stage.up(kVerifier);
    stage.hears(kVerifier, Attach{.verifier = kVerifier.id, .fingerprint = kTokens, .head = head});
  }
  Advance first() {
    Advance message = first_advance({10});
    message.draft = false;
    return message;
  }
  static Advance with_features(std::vector<TokenId> tokens, int32_t base, Round round) {
    Advance message = advance(tokens, base, round);
    for (size_t i = 0; i < 2 * message.tokens.size(); ++i) message.features.push_back(static_cast<uint16_t>(i));
    return message;
  }

  Drafter drafter{reads_features()};
  Stage<Drafter> stage{drafter};
};

TEST_F(DrafterOfFeatures, SaysThatItReadsThem) {
  const Attached answer = stage.says<Attached>().message;
  EXPECT_TRUE(answer.reads_features);
  EXPECT_EQ(answer.refusal, "");
}

TEST_F(DrafterOfFeatures, RefusesAVerifierOfAnotherHead) {
  stage.forget();
  attach(kHead + 1);
  EXPECT_THAT(stage.says<Attached>().message.refusal, HasSubstr("start the verifier with the same --head"));
  attach(0);
  EXPECT_THAT(stage.says<Attached>().message.refusal, HasSubstr("sends none"));
}

TEST_F(DrafterOfFeatures, GivesThemToItsMethodWithTheirTokens) {
  stage.hears(kVerifier, first());
  const auto& begins = stage.runs<DraftPlan>();
  EXPECT_EQ(begins.operations.size(), 2U);
  stage.hears(kVerifier, with_features({10, 11, 12}, 1, 1));
  stage.finishes(Drafts{});
  const auto& extends = std::get<DraftPlan::Extend>(stage.runs<DraftPlan>().operations.front());
  EXPECT_THAT(extends.tokens, ElementsAre(11, 12));
  EXPECT_THAT(extends.features, ElementsAre(0, 1, 2, 3));
}

TEST_F(DrafterOfFeatures, StrikesAnAdvanceWithoutThem) {
  stage.hears(kVerifier, first());
  stage.hears(kVerifier, advance({10, 11, 12}, 1, 1));
  EXPECT_EQ(drafter.counters().invalid, 1U) << "none";
  Advance short_by_one = with_features({10, 11, 12}, 1, 1);
  short_by_one.features.pop_back();
  stage.hears(kVerifier, short_by_one);
  EXPECT_EQ(drafter.counters().invalid, 2U) << "too few";
  stage.hears(kVerifier, first_advance({10, 11}, 2));
  EXPECT_EQ(drafter.counters().invalid, 3U) << "the first token comes alone";
}

// Its method evicts nothing: what it takes beside the tokens counts.
TEST_F(DrafterOfFeatures, IsBusyWhereItsMethodHasNoRoom) {
  std::vector<TokenId> tokens(91, 10);
  stage.hears(kVerifier, first());
  stage.hears(kVerifier, with_features({tokens.begin(), tokens.begin() + 90}, 1, 1));
  EXPECT_EQ(drafter.counters().busy, 0U);
  stage.hears(kVerifier, with_features({tokens.begin(), tokens.begin() + 91}, 90, 2));
  EXPECT_EQ(drafter.counters().busy, 1U);
}

// Its chunks ask for nothing, and only the last one asks: the drafter must not ask for what it has
// no room for.
TEST_F(DrafterOfFeatures, IsBusyForASequenceThatCannotFit) {
  const std::vector<TokenId> tokens(120, 10);
  const auto chunk = [&](int32_t from, int32_t to, Round round, bool asks) {
    Advance message = with_features({tokens.begin(), tokens.begin() + to}, from, round);
    message.draft = asks;
    stage.hears(kVerifier, message);
  };
  stage.hears(kVerifier, first());
  stage.forget();
  chunk(1, 60, 1, false);
  chunk(60, 100, 1, false);
  chunk(100, 119, 1, true);
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::busy);
  chunk(119, 120, 2, true);
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::busy);
  EXPECT_TRUE(stage.silent<Resync>());
}

TEST_F(DrafterOfFeatures, IsBusyForAnUnknownSequenceThatCannotFit) {
  const std::vector<TokenId> tokens(120, 10);
  stage.hears(kVerifier, with_features(tokens, 110, 1));
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::busy);
  EXPECT_TRUE(stage.silent<Resync>());
}

TEST(DrafterWithoutFeatures, StrikesAnAdvanceThatHasSome) {
  Drafter drafter{drafter_config()};
  Stage<Drafter> stage{drafter};
  stage.up(kVerifier);
  stage.hears(kVerifier, Attach{.verifier = kVerifier.id, .fingerprint = kTokens, .head = kHead});
  EXPECT_FALSE(stage.says<Attached>().message.reads_features);
  Advance message = first_advance({10});
  message.features = {1, 2};
  stage.hears(kVerifier, message);
  EXPECT_EQ(drafter.counters().invalid, 1U);
}

}  // namespace
}  // namespace slipstream
