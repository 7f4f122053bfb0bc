#include "services/drafter/drafter.h"

#include <gtest/gtest.h>

#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

using DrafterActor = DrafterStage;
// Subjects that share this stage.
using VerifierLoss = DrafterActor;
using SequenceLease = DrafterActor;

TEST_F(DrafterActor, AnswersAnAdvanceWithATreeOfTheSameFence) {
  const std::vector<TokenId> tokens{10, 20, 30};
  stage.hears(kVerifier, first_advance(tokens));
  drafts({40, 50});
  const To<Tree> tree = stage.says<Tree>();
  EXPECT_EQ(tree.peer, kVerifier);
  EXPECT_EQ(tree.message.fence, fence_after(first_advance(tokens)));
  EXPECT_EQ(tree.message.fence.base_length, 3);
  EXPECT_EQ(tree.message.draft_us, 40u);
  ASSERT_EQ(tree.message.nodes.size(), 2u);
  EXPECT_EQ(tree.message.nodes[0].token, 40);
}

TEST_F(DrafterActor, DraftSecondsHasABucketForAJobOfSeconds) {
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.finishes(Drafts{.trees = {DraftTree()}, .draft_us = 1'900'000});
  const auto& seconds = counters().draft_seconds;
  EXPECT_EQ(seconds.count(), 1u);
  EXPECT_EQ(seconds.counts().back(), 0u);  // above the last bound
}

TEST_F(DrafterActor, PrefillsTheMethodBeforeItAsks) {
  stage.hears(kVerifier, first_advance({10, 20}));
  const DraftPlan& plan = stage.runs<DraftPlan>();
  ASSERT_EQ(plan.operations.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<DraftPlan::Begin>(plan.operations[0]));
  EXPECT_EQ(std::get<DraftPlan::Extend>(plan.operations[1]).tokens, (std::vector<TokenId>{10, 20}));
  ASSERT_EQ(plan.asks.size(), 1u);
  EXPECT_EQ(plan.asks[0].rule.nodes_max, Tuning{}.nodes_max);
}

TEST_F(DrafterActor, TellsTheMethodTheVerdictsOnItsTreeBeforeTheTokensThatFollow) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({30, 40});
  Advance next = advance({10, 20, 30, 41}, 2, 2);
  next.verdicts = {30, 41, kNoVerdict};
  stage.hears(kVerifier, next);
  const DraftPlan& plan = stage.runs<DraftPlan>();
  ASSERT_EQ(plan.operations.size(), 2U);
  EXPECT_EQ(std::get<DraftPlan::Learn>(plan.operations[0]).verdicts, next.verdicts);
  EXPECT_EQ(std::get<DraftPlan::Extend>(plan.operations[1]).tokens, (std::vector<TokenId>{30, 41}));
}

TEST_F(DrafterActor, VerdictsOfAnAdvanceThatDoesNotFitAreIgnored) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({30, 40});
  Advance gap = advance({10, 20, 30, 41, 50}, 4, 3);
  gap.verdicts = {30, 41, kNoVerdict};
  stage.hears(kVerifier, gap);
  Advance anew = first_advance({10, 20, 30, 41, 50}, 3);
  anew.verdicts = {30, 41, kNoVerdict};
  stage.hears(kVerifier, anew);
  for (const DraftPlan::Operation& operation : stage.runs<DraftPlan>().operations) {
    EXPECT_FALSE(std::holds_alternative<DraftPlan::Learn>(operation));
  }
}

TEST_F(DrafterActor, AVerdictOutsideTheVocabularyIsAStrike) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({30, 40});
  Advance next = advance({10, 20, 30, 41}, 2, 2);
  next.verdicts = {30, kTokens.vocabulary, kNoVerdict};
  stage.hears(kVerifier, next);
  EXPECT_EQ(counters().invalid, 1U);
}

TEST_F(DrafterActor, OnlyKeepsUpWhenNoDraftIsWanted) {
  Advance chunk = first_advance({10, 20});
  chunk.draft = false;
  stage.hears(kVerifier, chunk);
  drafts({});
  EXPECT_TRUE(stage.silent<Tree>());
  EXPECT_EQ(counters().tokens_held, 2u);
}

TEST_F(DrafterActor, TakesALongPromptInSeveralAdvancesOfOneRound) {
  Advance chunk = first_advance({10, 20});
  chunk.draft = false;
  stage.hears(kVerifier, chunk);
  drafts({});
  stage.hears(kVerifier, advance({10, 20, 30, 40}, 2, 1));
  drafts({50});
  EXPECT_EQ(stage.says<Tree>().message.fence.base_length, 4);
}

TEST_F(DrafterActor, SaysWhyATreeHasNoNodes) {
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::below_threshold);
}

TEST_F(DrafterActor, AsksForResyncWhenItHoldsTooLittle) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({});
  stage.hears(kVerifier, advance({10, 20, 30, 40}, 3, 3));  // round 2 was lost
  const Resync resync = stage.says<Resync>().message;
  EXPECT_EQ(resync.sequence, kSequence);
  EXPECT_EQ(resync.round, 3u);
  EXPECT_EQ(resync.held, 2);
  stage.forget();
  stage.hears(kVerifier, advance({10, 20, 30, 40}, 2, 3));  // the answer, in the same round
  drafts({50});
  EXPECT_EQ(stage.says<Tree>().message.fence.base_length, 4);
}

TEST_F(DrafterActor, AsksForEverythingOfASequenceThatItNeverMet) {
  stage.hears(kVerifier, advance({10, 20, 30}, 2, 5));
  EXPECT_EQ(stage.says<Resync>().message.held, 0);
  EXPECT_TRUE(stage.rests());
}

TEST_F(DrafterActor, ForgetsAPrefixThatIsNotItsOwn) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({});
  stage.hears(kVerifier, advance({10, 99, 30}, 2, 2));
  EXPECT_EQ(stage.says<Resync>().message.held, 0);
  EXPECT_EQ(counters().live, 0u);
  EXPECT_EQ(counters().tokens_held, 0u);
}

TEST_F(DrafterActor, StartsAnewWhenToldAllFromTheBeginning) {
  stage.hears(kVerifier, first_advance({10, 20, 30}));
  drafts({});
  stage.hears(kVerifier, first_advance({10, 20}, 2));
  EXPECT_TRUE(std::holds_alternative<DraftPlan::Begin>(stage.runs<DraftPlan>().operations[0]));
  EXPECT_EQ(counters().tokens_held, 2u);
}

TEST_F(DrafterActor, DropsAnAdvanceOfAnOlderEpoch) {
  Advance newer = first_advance({10, 20});
  newer.fence.epoch = 2;
  stage.hears(kVerifier, newer);
  drafts({});
  stage.forget();
  stage.hears(kVerifier, advance({10, 20, 30}, 2, 9));
  EXPECT_TRUE(stage.silent<Resync>());
  EXPECT_TRUE(stage.rests());
  EXPECT_EQ(counters().stale, 1u);
}

TEST_F(DrafterActor, DropsTheSameAdvanceTwice) {
  stage.hears(kVerifier, first_advance({10, 20}));
  drafts({30});
  stage.hears(kVerifier, first_advance({10, 20}));
  EXPECT_TRUE(stage.rests());
  EXPECT_EQ(counters().stale, 1u);
  EXPECT_EQ(counters().tokens_held, 2u);
}

TEST_F(DrafterActor, StartsAnewInANewerEpoch) {
  stage.hears(kVerifier, first_advance({10, 20, 30}, 8));
  drafts({});
  Advance again = first_advance({10, 20, 30, 40}, 1);
  again.fence.epoch = 2;
  stage.hears(kVerifier, again);
  drafts({50});
  EXPECT_EQ(stage.does<To<Tree>>().message.no_nodes, NoNodes::below_threshold);
  EXPECT_EQ(stage.says<Tree>().message.fence.epoch, 2u);
}

TEST_F(DrafterActor, CollapsesAsksOfOneSequenceToTheNewestRound) {
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.hears(kVerifier, advance({10, 20}, 1, 2));
  stage.hears(kVerifier, advance({10, 20, 30}, 2, 3));
  EXPECT_TRUE(stage.rests());  // one job at a time
  stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{1}, 0.5F))}});
  EXPECT_TRUE(stage.silent<Tree>());  // its round is over
  EXPECT_EQ(stage.runs<DraftPlan>().asks.size(), 1u);
  stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{40}, 0.5F))}});
  EXPECT_EQ(stage.says<Tree>().message.fence.round, 3u);
  EXPECT_EQ(counters().asks, counters().trees + counters().empty_trees + counters().asks_overtaken);
  EXPECT_EQ(counters().nodes_drafted, counters().nodes_sent + counters().nodes_discarded);
}

TEST_F(DrafterActor, BatchesTheSequencesOfAllVerifiers) {
  attach(kOtherVerifier);
  stage.hears(kVerifier, first_advance({1}));
  stage.runs<DraftPlan>();
  stage.hears(kOtherVerifier, first_advance({2}));  // the same id from another verifier is another sequence
  Advance third = first_advance({3});
  third.fence.sequence.counter = 2;
  stage.hears(kVerifier, third);
  stage.finishes(Drafts{.trees = {DraftTree()}});
  EXPECT_EQ(stage.runs<DraftPlan>().asks.size(), 2u);
}

TEST_F(DrafterActor, AsksAgainUntilTheMethodHasPrefilledTheSequence) {
  stage.hears(kVerifier, first_advance({10, 20}));
  stage.runs<DraftPlan>();
  stage.finishes(Drafts{.trees = {std::nullopt}});
  EXPECT_TRUE(stage.silent<Tree>());
  const DraftPlan& again = stage.runs<DraftPlan>();
  EXPECT_TRUE(again.operations.empty());  // what was taught stays so
  ASSERT_EQ(again.asks.size(), 1u);
  stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{30}, 0.5F))}});
  EXPECT_EQ(stage.says<Tree>().message.nodes.at(0).token, 30);
  EXPECT_EQ(counters().asks, counters().trees + counters().empty_trees + counters().asks_overtaken);
}

TEST_F(DrafterActor, DoesNotAskAgainForARoundThatIsOver) {
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.hears(kVerifier, advance({10, 20}, 1, 2));
  stage.finishes(Drafts{.trees = {std::nullopt}});
  ASSERT_EQ(stage.runs<DraftPlan>().asks.size(), 1u);
  stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{30}, 0.5F))}});
  EXPECT_EQ(stage.says<Tree>().message.fence.round, 2u);
  EXPECT_TRUE(stage.rests());
}

TEST_F(DrafterActor, AsksForTheMostUrgentTreeFirstAndForThoseTooLateLast) {
  stage.hears(kVerifier, first_advance({1}));
  stage.runs<DraftPlan>();
  const auto asks = [&](uint64_t counter, uint32_t deadline_us) {
    Advance message = first_advance({2});
    message.fence.sequence.counter = counter;
    message.tuning.deadline_us = deadline_us;
    stage.hears(kVerifier, message);
  };
  asks(10, 100), asks(11, 9000), asks(12, 2000);
  stage.waits(1ms);  // too late for the first
  stage.finishes(Drafts{.trees = {DraftTree()}});
  std::vector<uint64_t> order;
  for (const DraftAsk& ask : stage.runs<DraftPlan>().asks) order.push_back(ask.key.sequence.counter);
  EXPECT_EQ(order, (std::vector<uint64_t>{12, 11, 10}));
}

TEST_F(DrafterActor, ForgetsAReleasedSequence) {
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  stage.hears(kVerifier, Release{.sequence = kSequence, .epoch = 0});
  EXPECT_EQ(counters().live, 1u);  // an older assignment's farewell
  stage.hears(kVerifier, Release{.sequence = kSequence, .epoch = 1});
  EXPECT_EQ(counters().live, 0u);
  EXPECT_TRUE(std::holds_alternative<DraftPlan::End>(stage.runs<DraftPlan>().operations.at(0)));
}

TEST_F(VerifierLoss, FreesTheSequencesOfThatVerifier) {
  attach(kOtherVerifier);
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  stage.hears(kOtherVerifier, first_advance({10}));
  drafts({});
  stage.down(kVerifier);
  EXPECT_EQ(counters().live, 1u);
  EXPECT_EQ(counters().sequences_freed, 1u);
}

TEST_F(SequenceLease, FreesASequenceThatWasSilentForItsLease) {
  stage.hears(kVerifier, first_advance({10}));
  drafts({});
  stage.waits(kSequenceLease - 1s);
  EXPECT_EQ(counters().live, 1u);
  stage.waits(kLeaseSweepInterval + 1s);
  EXPECT_EQ(counters().live, 0u);
}

TEST_F(DrafterActor, IsBusyBeyondItsLimitOfSequences) {
  for (int i = 0; i < kSequencesPerDrafterMax; ++i) {
    Advance message = first_advance({10});
    message.fence.sequence.counter = 100 + i;
    message.draft = false;
    stage.hears(kVerifier, message);
  }
  stage.hears(kVerifier, first_advance({10, 20}));
  const Tree tree = stage.says<Tree>().message;
  EXPECT_EQ(tree.no_nodes, NoNodes::busy);
  EXPECT_EQ(tree.fence, fence_after(first_advance({10, 20})));
  EXPECT_EQ(counters().live, static_cast<uint64_t>(kSequencesPerDrafterMax));
}

TEST_F(DrafterActor, SendsNoTreeOfASequenceThatEndedMeanwhile) {
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.hears(kVerifier, Release{.sequence = kSequence, .epoch = 1});
  stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{20}, 0.5F))}});
  EXPECT_TRUE(stage.silent<Tree>());
  EXPECT_EQ(counters().nodes_discarded, 1u);
}

TEST_F(DrafterActor, TellsTheLogWhichSequenceItDraftsFor) {
  stage.forget();
  stage.hears(kVerifier, first_advance({10}));
  const Note begins = stage.does<Note>();
  EXPECT_EQ(begins.sequence, kSequence);
  EXPECT_TRUE(begins.detail);
  stage.runs<DraftPlan>();
  stage.finishes(fail("no memory"));
  EXPECT_FALSE(stage.does<Note>().sequence) << "the job is everybody's";
  EXPECT_EQ(stage.does<Note>().sequence, kSequence);
  stage.hears(kVerifier, Release{.sequence = kSequence, .epoch = 1});
  EXPECT_EQ(stage.does<Note>().sequence, kSequence);
}

TEST_F(DrafterActor, AnswersBusyWhenTheMethodFailed) {
  stage.hears(kVerifier, first_advance({10}));
  stage.runs<DraftPlan>();
  stage.finishes(fail("no memory"));
  EXPECT_EQ(stage.says<Tree>().message.no_nodes, NoNodes::busy);
  EXPECT_EQ(counters().failed_jobs, 1u);
}

}  // namespace
}  // namespace slipstream
