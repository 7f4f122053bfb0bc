// A sequence with drafters of several kinds: one leads, and the others are waited for where that
// pays.
#include <algorithm>

#include "common/speculation/draft_backoff.h"
#include "tests/unit/services/verifier/several_drafters.h"

namespace slipstream {
namespace {

TEST_F(SeveralDrafters, OneOfEachKindIsAsked) {
  meet({kLookUp, kSmall, kSmall, kSmaller});
  begin(4);
  EXPECT_EQ(asked(), (std::vector{kDrafter, kBeside, kFourth}));
}

TEST_F(SeveralDrafters, TheirTreesAreOneTreeInWhichAGuessOfTwoIsOneRow) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, asks[1]));
  stage.hears(kDrafter, tree({{1, kRoot, .9F}, {1, 0, .8F}}, asks[0]));
  EXPECT_EQ(runs().wanted.size(), 3U) << "the root and two nodes";
  EXPECT_EQ(of(Fate::merged), 1U);
}

TEST_F(SeveralDrafters, WhatOnlyOneOfThemGuessedIsVerifiedToo) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  stage.hears(kBeside, tree({{5, kRoot, .9F}}, asks[1]));
  stage.hears(kDrafter, tree({{1, kRoot, .9F}, {1, 0, .8F}}, asks[0]));
  EXPECT_EQ(runs().wanted.size(), 4U);
  EXPECT_EQ(of(Fate::merged), 0U);
}

TEST_F(SeveralDrafters, OneBesideTheLeadBeginsWithSingleNodes) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  EXPECT_EQ(asks[0].message.tuning.nodes_max, kFirstNodes);
  EXPECT_EQ(asks[1].message.tuning.nodes_max, 1);
}

TEST_F(SeveralDrafters, EachIsAskedByItsOwnTuning) {
  meet({kLookUp, kSmall});
  Start start = drafted_by(2);
  start.drafters[0].tuning = {.version = 4, .threshold = .5F, .nodes_max = 2, .depth_max = 2, .reason = "quick"};
  start.drafters[1].tuning = {.version = 6, .threshold = .25F, .depth_max = 5, .deadline_us = 900, .reason = "sure"};
  stage.hears(kRouter, start);
  const std::vector<To<Advance>> asks = this->asks();
  ASSERT_EQ(asks.size(), 2U);
  EXPECT_EQ(asks[0].message.tuning, start.drafters[0].tuning);
  Tuning single = start.drafters[1].tuning;
  single.nodes_max = 1;  // beside the lead it begins with one
  EXPECT_EQ(asks[1].message.tuning, single);
}

TEST_F(SeveralDrafters, AStepWaitsForTheLead) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  EXPECT_TRUE(stage.rests());
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, asks[1]));
  EXPECT_TRUE(stage.rests()) << "the lead's tree is due";
  stage.hears(kDrafter, tree({{1, kRoot, .9F}}, asks[0]));
  EXPECT_FALSE(stage.rests());
}

TEST_F(SeveralDrafters, AStepWaitsForNobodyBesideTheLeadWhoNeverAnswered) {
  meet({kLookUp, kSmall});
  begin(2);
  const std::vector<To<Advance>> asks = this->asks();
  stage.hears(kDrafter, tree({{1, kRoot, .9F}}, asks[0]));
  EXPECT_EQ(runs().wanted.size(), 2U);
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, asks[1]));
  EXPECT_EQ(of(Fate::late), 1U);
}

// It answers 1 ms after it is asked, and a step takes 8.
class AnsweringBesideTheLead : public SeveralDrafters {
 protected:
  AnsweringBesideTheLead() {
    meet({kLookUp, kSmall});
    begin(2);
    round();
    stage.waits(1ms);
    stage.hears(kBeside, tree({{1, kRoot, .9F}}, beside));
    step();
    round();
  }
  // Both are asked, and the lead's tree is there at once.
  void round() {
    const std::vector<To<Advance>> asks = this->asks();
    stage.hears(kDrafter, tree({{5, kRoot, .9F}}, asks.at(0)));
    beside = asks.at(1);
  }
  To<Advance> beside;
};

TEST_F(AnsweringBesideTheLead, IsWaitedForForWhatItGains) {
  EXPECT_TRUE(stage.rests());
  stage.waits(1ms);
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, beside));
  EXPECT_EQ(runs().wanted.size(), 3U) << "the root, and a node of each";
}

TEST_F(AnsweringBesideTheLead, IsWaitedForNoLongerThanTwiceItsUsualTime) {
  stage.waits(2ms - 1us);
  EXPECT_TRUE(stage.rests());
  stage.waits(1us);
  EXPECT_FALSE(stage.rests());
  EXPECT_EQ(verifier.counters().unwaited_steps, 0U) << "it was the lead's tree that a step would miss";
}

class OnLongSteps : public SeveralDrafters {
 protected:
  OnLongSteps() : SeveralDrafters(0.05) {}
};

// Both trees are worth their wait, and the credit lasts for the first alone.
TEST_F(OnLongSteps, ATreeThatCannotBePaidForKeepsNoQuickOneFromBeingWaitedFor) {
  meet({kLookUp, kSmall});
  Start quick = drafted_by(1), slow = drafted_by(1);
  slow.sequence.counter = 3;
  slow.drafters = {kAll[1]};
  slow.drafters[0].tuning.deadline_us = 500'000;
  stage.hears(kRouter, quick);
  stage.hears(kRouter, slow);
  std::vector<To<Advance>> asks = this->asks();
  ASSERT_EQ(asks.size(), 2U);
  stage.waits(1ms);
  stage.hears(kDrafter, tree({{1, kRoot, .9F}}, asks[0]));
  EXPECT_TRUE(stage.rests());
  stage.waits(14ms);
  stage.hears(kBeside, tree({{1, kRoot, .9F}}, asks[1]));
  step();
  asks = this->asks();
  ASSERT_EQ(asks.size(), 2U);
  EXPECT_TRUE(stage.rests()) << "5 ms are left, and the quick tree takes 1";
  stage.hears(kDrafter, tree({{1, kRoot, .9F}}, asks[0]));
  EXPECT_FALSE(stage.rests()) << "the slow one takes 15";
}

TEST_F(SeveralDrafters, OneThatAddsNothingIsAskedRarely) {
  meet({kLookUp, kSmall});
  begin(2);
  int beside = 0, lead = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<To<Advance>> asks = this->asks();
    for (const To<Advance>& ask : asks) ++(ask.peer == kBeside ? beside : lead);
    for (const Peer peer : {kBeside, kDrafter}) {  // the lead answers last
      for (const To<Advance>& ask : asks) {
        if (ask.peer != peer) continue;
        stage.hears(peer, peer == kBeside ? tree({{1, kRoot, .9F}}, ask) : tree({{1, kRoot, .9F}, {1, 0, .8F}}, ask));
      }
    }
    step();
  }
  EXPECT_GE(lead, 100);
  EXPECT_LE(beside, lead / 2);
}

TEST_F(SeveralDrafters, ABetterOneTakesTheLeadAndTheOtherStaysBesideIt) {
  meet({kLookUp, kSmall});
  begin(2);
  std::vector<Peer> first;  // asked first in each round: the lead
  int held_anew = 0;
  for (int round = 0; round < 100; ++round) {
    const std::vector<To<Advance>> asks = this->asks();
    if (!asks.empty()) first.push_back(asks.front().peer);
    for (const To<Advance>& ask : asks) {
      held_anew += ask.message.fence.base_length == 0 ? 1 : 0;
      // The second drafter guesses four right tokens, the first one.
      std::vector<TreeNode> nodes{{1, kRoot, .9F}};
      for (int i = 1; ask.peer == kBeside && i < 4; ++i) nodes.push_back({1, i - 1, .8F});
      nodes.resize(std::min<size_t>(nodes.size(), ask.message.tuning.nodes_max));
      if (!nodes.empty() && ask.peer == kBeside) stage.hears(kBeside, tree(nodes, ask));
    }
    for (const To<Advance>& ask : asks) {
      if (ask.peer == kDrafter) stage.hears(kDrafter, tree({{1, kRoot, .9F}}, ask));
    }
    stage.waits(5ms);
    step();
  }
  EXPECT_EQ(first.front(), kDrafter);
  EXPECT_EQ(first.back(), kBeside);
  EXPECT_EQ(held_anew, 2) << "each of them prefilled once";
}

// It is always a little later than the lead's tree, which the step waits for. Then the lead goes.
TEST_F(SeveralDrafters, OneThatCameLateBesideTheLeadIsAskedAtOnceWhenItLeads) {
  meet({kLookUp, kSmall});
  begin(2);
  int asked_beside = 0;
  for (int round = 0; round < 4 * kEmptiesBeforeBackoff; ++round) {
    const std::vector<To<Advance>> asks = this->asks();
    asked_beside += static_cast<int>(std::ranges::count(asks, kBeside, &To<Advance>::peer));
    for (const Peer peer : {kDrafter, kBeside}) {
      for (const To<Advance>& ask : asks) {
        if (ask.peer != peer) continue;
        stage.hears(peer, peer == kBeside ? tree({{1, kRoot, .9F}}, ask) : tree({{1, kRoot, .9F}, {1, 0, .9F}}, ask));
      }
    }
    step();
  }
  EXPECT_GT(of(Fate::late), 0U);
  EXPECT_GT(asked_beside, 20) << "it is no failure to be late where nobody waits";
  asks();
  stage.down(kDrafter);
  step();
  EXPECT_EQ(asked(), std::vector{kBeside});
}

// It answers 2 ms after it is asked: too late beside the lead, whose tree is there at once, and in
// time where it is waited for. It knows one token, the lead two.
TEST_F(SeveralDrafters, OneThatLeadsIsWaitedForWhateverItAddedToOthers) {
  meet({kLookUp, kSmall});
  begin(2);
  for (int round = 0; round < 100; ++round) {
    const std::vector<To<Advance>> asks = this->asks();
    for (const To<Advance>& ask : asks) {
      if (ask.peer == kDrafter && ask.peer == asks.front().peer) {
        stage.hears(kDrafter, tree({{1, kRoot, .9F}, {1, 0, .9F}}, ask));
      }
    }
    stage.waits(2ms);
    for (const To<Advance>& ask : asks) {
      if (ask.peer == kBeside) stage.hears(kBeside, tree({{1, kRoot, .9F}}, ask));
    }
    stage.waits(8ms);  // the step
    step();
  }
  EXPECT_GT(of(Fate::late), 0U);
  asks();
  stage.down(kDrafter);
  step();
  EXPECT_EQ(asked(), std::vector{kBeside});
  EXPECT_TRUE(stage.rests()) << "its tree is waited for";
}

TEST_F(SeveralDrafters, TheLeadsLossLeavesTheOtherInTheLead) {
  meet({kLookUp, kSmall});
  begin(2);
  asks();
  stage.down(kDrafter);
  step();
  const std::vector<To<Advance>> asks = this->asks();
  ASSERT_EQ(asks.size(), 1U);
  EXPECT_EQ(asks[0].peer, kBeside);
  EXPECT_GT(asks[0].message.fence.base_length, 0) << "it holds the prompt already";
  EXPECT_TRUE(stage.rests()) << "now it is waited for";
}

TEST_F(SeveralDrafters, AllAreReleasedWhenTheSequenceEnds) {
  meet({kLookUp, kSmall});
  begin(2);
  stage.hears(kRouter, Cancel{second().sequence, 1});
  std::vector<Peer> released;
  while (!stage.silent<Release>()) released.push_back(stage.says<Release>().peer);
  std::ranges::sort(released);
  EXPECT_EQ(released, (std::vector{kDrafter, kBeside}));
}

TEST_F(SeveralDrafters, ARuleThatNeedsProbabilitiesHasALeadOnly) {
  meet({kLookUp, kSmall});
  Start start = drafted_by(2);
  start.spec.acceptance.rule = Rule::ratio;
  start.spec.sampling.temperature = 1;
  stage.hears(kRouter, start);
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {1}, .rejections = {{.walk = {.accepted = {}, .emitted = {1}}}}});
  EXPECT_EQ(asked(), std::vector{kDrafter});
}

}  // namespace
}  // namespace slipstream
