// What is counted by kind of drafter.
#include <string>

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
