// What is counted by kind of drafter.
#include <algorithm>
#include <string>

#include "services/verifier/draft_kinds.h"
#include "tests/unit/services/verifier/several_drafters.h"

namespace slipstream {
namespace {

using DraftKinds = SeveralDrafters;

TEST_F(DraftKinds, ANodeOfTwoIsOfTheKindWhoseTreeCameFirst) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, asks[1]));
  stage.hears(kDrafter, tree({{1, kRoot, .9F}, {1, 0, .8F}}, asks[0]));
  step();
  const KindIndex look_up = kind_index(kLookUp), small = kind_index(kSmall);
  const NodeFates& fates = verifier.counters().fates;
  EXPECT_EQ(fates.of(small, Fate::accepted), 1U);
  EXPECT_EQ(fates.of(look_up, Fate::accepted), 1U) << "the node behind it";
  EXPECT_EQ(fates.of(look_up, Fate::merged), 1U);
  EXPECT_EQ(fates.received(look_up), 2U);
}

TEST_F(DraftKinds, AnAnswerIsDraftedForAsLongAsItsDrafterSaysAndNoLongerThanItTook) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  stage.waits(1ms);
  for (const size_t i : {0, 1}) {
    Tree answer = tree({{1, kRoot, .9F}}, asks[i]);
    answer.draft_us = i == 0 ? 400 : 3'600'000'000;
    stage.hears(asks[i].peer, answer);
  }
  stage.waits(100s);  // gauges are counted for heartbeats
  const auto& kinds = verifier.counters().draft_kinds;
  EXPECT_DOUBLE_EQ(kinds.at(kind_index(kLookUp)).answer_seconds, 0.001);
  EXPECT_DOUBLE_EQ(kinds.at(kind_index(kLookUp)).drafting_seconds, 0.0004);
  EXPECT_DOUBLE_EQ(kinds.at(kind_index(kSmall)).drafting_seconds, 0.001) << "not an hour";
}

TEST_F(DraftKinds, ThoseOfKindsBeyondTheLimitAreCountedTogether) {
  for (size_t i = 0; i < kDraftKindsMax + 2; ++i) {
    Start start = drafted_by(1);
    start.sequence.counter = 10 + i;
    start.drafters = {{100 + i, "tcp://" + std::to_string(i)}};
    stage.hears(kRouter, start);
    const Peer peer{kDrafter.id + i};
    stage.up(peer);
    stage.hears(
        peer,
        Attached{.drafter = 100 + i, .fingerprint = config().fingerprint, .method = "small-lm", .model = std::to_string(i)});
    step();
    stage.hears(kRouter, Cancel{start.sequence, 1});
    stage.forget();
  }
  stage.waits(100s);  // gauges are counted for heartbeats
  ASSERT_EQ(verifier.counters().draft_kinds.size(), kDraftKindsMax + 1);
  EXPECT_EQ(verifier.counters().draft_kinds.back().kind, kOtherKind);
  EXPECT_EQ(verifier.counters().draft_kinds.back().drafters, 2U);
}

// A drafter that was renamed again and again was once counted as "other".
TEST_F(DraftKinds, OneThatIsGoneMakesRoomAndItsCountsStay) {
  constexpr size_t kNames = 3 * kDraftKindsMax;
  meet({kSmall});
  begin(1);
  for (size_t name = 0; name < kNames; ++name) {
    stage.down(kDrafter);
    stage.up(kDrafter);
    stage.hears(
        kDrafter,
        Attached{
            .drafter = 100 + name, .fingerprint = config().fingerprint, .method = "small-lm", .model = std::to_string(name)});
    step();
  }
  stage.waits(100s);  // gauges are counted for heartbeats
  const auto& kinds = verifier.counters().draft_kinds;
  ASSERT_EQ(kinds.size(), kDraftKindsMax + 1);
  const auto newest = std::ranges::find(kinds, std::to_string(kNames - 1),
                                        [](const DraftKindCounters& counters) { return counters.kind.model; });
  ASSERT_NE(newest, kinds.end());
  EXPECT_EQ(newest->drafters, 1U);
}

TEST(DraftKindsTable, GivesTheCountsOfOneThatIsGoneToOther) {
  VerifierCounters counters;
  const auto stays = [](const DraftKind& kind) { return kind.model != "3" && kind.model != "5"; };
  const auto place = [&](const std::string& model) { return place_of_kind(counters, {.method = "m", .model = model}, stays); };
  for (size_t model = 0; model < kDraftKindsMax; ++model) ASSERT_EQ(place(std::to_string(model)), model);
  EXPECT_EQ(counters.draft_kinds.size(), kDraftKindsMax) << "nobody is \"other\" yet";
  counters.fates.arrive(3, 2);
  counters.fates.arrive(5, 7);
  counters.fates.settle(5, 7, Fate::late);
  DraftKindCounters& gone = counters.draft_kinds[5];
  gone.rounds[0] = 11;
  gone.parked = 1;
  gone.rounds_verified = 3;
  gone.met_deadlines = 4;
  gone.reliability.verified(0.5, true);
  gone.drafters = 9;
  EXPECT_EQ(place("new"), 5U) << "3 has nodes that are held";
  EXPECT_EQ(counters.draft_kinds[5], (DraftKindCounters{.kind = {.method = "m", .model = "new"}}));
  const DraftKindCounters& other = counters.draft_kinds.back();
  EXPECT_EQ(other.kind, kOtherKind);
  EXPECT_EQ(other.rounds[0], 11U);
  EXPECT_EQ(other.parked, 1U);
  EXPECT_EQ(other.rounds_verified, 3U);
  EXPECT_EQ(other.met_deadlines, 4U);
  EXPECT_EQ(other.reliability.bins()[5].accepted, 1U);
  EXPECT_EQ(other.drafters, 0U) << "a gauge is of drafters that are there";
  EXPECT_EQ(counters.fates.of(kDraftKindsMax, Fate::late), 7U);
  EXPECT_EQ(counters.fates.of(5, Fate::late), 0U);
  EXPECT_EQ(counters.fates.received(), 9U) << "no sum changes";
  EXPECT_EQ(place("newer"), kDraftKindsMax) << "all that are left stay, or hold nodes";
  EXPECT_EQ(place("new"), 5U);
  EXPECT_EQ(place_of_kind(counters, kOtherKind, [](const DraftKind&) { return false; }), kDraftKindsMax);
}

TEST_F(DraftKinds, RoundsAreCountedByKindAndByWhetherItWasAsked) {
  meet({kLookUp, kSmall});
  begin(2);
  stage.waits(100s);  // gauges are counted for heartbeats
  const auto& kinds = verifier.counters().draft_kinds;
  for (const DraftKind& kind : {kLookUp, kSmall}) {
    const auto counted = std::ranges::find(kinds, kind, &DraftKindCounters::kind);
    ASSERT_NE(counted, kinds.end()) << kind.method;
    EXPECT_GE(counted->rounds[static_cast<size_t>(RoundAsk::asked)], 1U);
    EXPECT_EQ(counted->drafters, 1U);
  }
}

}  // namespace
}  // namespace slipstream
