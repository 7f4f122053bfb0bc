#include "services/verifier/tree_reports.h"

#include <gmock/gmock.h>

#include "common/messages/check.h"
#include "services/verifier/send_window.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Proposer kLookUp{"ngram", ""}, kModel{"small-lm", "tiny"};

TokenTree tree_of(std::vector<TreeNode> nodes) { return *TokenTree::make(std::move(nodes), 1000); }

// A round whose target says these tokens after the root and after each node.
TreeReport reported(const TokenTree& verified, const std::vector<TokenId>& choices, std::span<const Proposal> proposals,
                    int emitted = -1) {
  const Walk walked = walk(verified, choices);
  const int all = static_cast<int>(walked.emitted.size());
  return tree_report({.first_index = 7, .tree = verified, .walk = walked, .emitted = emitted < 0 ? all : emitted}, proposals);
}

std::vector<NodeFate> fates_of(const TreeReport& report) {
  std::vector<NodeFate> fates;
  for (const ReportedNode& node : report.nodes) fates.push_back(node.fate);
  return fates;
}

TEST(TreeReport, TellsWhatBecameOfEachNodeAndTheTargetsOwnChoice) {
  const TokenTree guessed = tree_of({{4, kRoot, .9F}, {50, kRoot, .5F}, {5, 0, .8F}, {51, 0, .3F}, {52, 1, .2F}});
  const Proposal proposals[] = {{kLookUp, guessed}};
  const TreeReport report = reported(guessed, {4, 5, 0, 6, 0, 0}, proposals);
  EXPECT_EQ(report.first_index, 7);
  EXPECT_EQ(report.own, 6);
  EXPECT_THAT(report.proposers, ElementsAre(kLookUp));
  EXPECT_THAT(fates_of(report),
              ElementsAre(NodeFate::accepted, NodeFate::rejected, NodeFate::accepted, NodeFate::rejected, NodeFate::unreached));
  EXPECT_EQ(report.nodes[2], (ReportedNode{.token = 5, .parent = 0, .chance = .8F, .by = 0, .fate = NodeFate::accepted}));
}

TEST(TreeReport, HasNoOwnChoiceWhereTheOutputEndedOnTheAcceptedPath) {
  const TokenTree guessed = tree_of({{4, kRoot, .9F}, {5, 0, .8F}});
  const Proposal proposals[] = {{kLookUp, guessed}};
  const TreeReport report = reported(guessed, {4, 5, 6}, proposals, 1);
  EXPECT_EQ(report.own, -1);
  EXPECT_THAT(fates_of(report), ElementsAre(NodeFate::accepted, NodeFate::unreached));
}

TEST(TreeReport, CreditsANodeToTheFirstThatGuessedItAndShowsWhatWasCut) {
  const TokenTree verified = tree_of({{4, kRoot, .9F}, {5, 0, .8F}});
  const Proposal proposals[] = {{kLookUp, tree_of({{4, kRoot, .7F}, {60, 0, .1F}})},
                                {kModel, tree_of({{4, kRoot, .9F}, {5, 0, .8F}, {61, 1, .2F}, {60, 0, .3F}})}};
  const TreeReport report = reported(verified, {4, 9, 9}, proposals);
  EXPECT_THAT(report.proposers, ElementsAre(kLookUp, kModel));
  EXPECT_THAT(report.nodes,
              ElementsAre(ReportedNode{4, kRoot, .9F, 0, NodeFate::accepted}, ReportedNode{5, 0, .8F, 1, NodeFate::rejected},
                          ReportedNode{60, 0, .1F, 0, NodeFate::trimmed}, ReportedNode{61, 1, .2F, 1, NodeFate::trimmed}));
}

TEST(TreeReport, HasNoMoreNodesThanATree) {
  std::vector<TreeNode> many, others;
  for (int32_t i = 0; i < kTreeNodesMax - 1; ++i) many.push_back({i, kRoot, .5F});
  for (int32_t i = 0; i < 9; ++i) others.push_back({500 + i, i - 1, .4F});
  const TokenTree verified = tree_of(many);
  const Proposal proposals[] = {{kLookUp, verified}, {kModel, tree_of(others)}};
  const TreeReport report = reported(verified, std::vector<TokenId>(kTreeNodesMax, 999), proposals);
  EXPECT_THAT(report.nodes, SizeIs(kTreeNodesMax));
  EXPECT_EQ(report.nodes.back().token, 500);
  EXPECT_TRUE(check(GenerateMessage(Tokens{.first_index = 7, .ids = {999}, .drafted = {0}, .depths = {1}, .trees = {report}})));
}

// Of a rule that samples the tree has a proposer and no proposal: its siblings may repeat.
TEST(TreeReport, GivesANodeThatNobodyProposedToTheFirst) {
  const TokenTree verified = tree_of({{4, kRoot, 1}});
  const Proposal proposals[] = {{kModel, {}}};
  EXPECT_THAT(reported(verified, {4, 5}, proposals).proposers, ElementsAre(kModel));
  EXPECT_THAT(reported(verified, {4, 5}, {}).proposers, ElementsAre(Proposer{}));
}

TEST(TreeReport, CutsLongNamesAndManyProposers) {
  std::vector<TreeNode> nodes;
  std::vector<Proposal> proposals;
  for (int32_t i = 0; i < 2 * kProposersMax; ++i) {
    nodes.push_back({i, kRoot, .5F});
    proposals.push_back({{std::to_string(i) + std::string(500, 'x'), ""}, tree_of({{i, kRoot, .5F}})});
  }
  const TreeReport report = reported(tree_of(nodes), std::vector<TokenId>(nodes.size() + 1, 999), proposals);
  EXPECT_THAT(report.proposers, SizeIs(kProposersMax));
  EXPECT_EQ(report.proposers.front().method.size(), kProposerBytesMax);
  EXPECT_EQ(report.nodes.back().by, kProposersMax - 1);
}

TEST(TreeReport, CutsANameBetweenCharacters) {
  const auto shown = [](const std::string& name) {
    const std::vector<Proposal> proposals{{{name, name}, tree_of({{1, kRoot, .5F}})}};
    return reported(tree_of({{1, kRoot, .5F}}), {1, 999}, proposals).proposers.front();
  };
  const std::string fits(kProposerBytesMax - 1, 'x');
  EXPECT_EQ(shown(fits + "\xc3\xa9").method, fits) << "half of it would be no text";
  EXPECT_EQ(shown(fits + "\xc3\xa9").model, fits);
  EXPECT_EQ(shown(fits.substr(1) + "\xc3\xa9").method, fits.substr(1) + "\xc3\xa9");
  EXPECT_EQ(shown(fits + "xyz").method, fits + "x");
}

TEST(TreeReports, KeepTheNewestUntilTheyAreAcked) {
  TreeReports reports;
  for (const int32_t first : {0, 2, 3, 7}) reports.add({.first_index = first}, 3);
  const auto firsts = [&](int32_t from, int32_t end) {
    std::vector<int32_t> all;
    for (const TreeReport& each : reports.of(from, end)) all.push_back(each.first_index);
    return all;
  };
  EXPECT_THAT(firsts(0, 100), ElementsAre(2, 3, 7));
  EXPECT_THAT(firsts(3, 7), ElementsAre(3));
  reports.acked(3);
  EXPECT_THAT(firsts(0, 100), ElementsAre(3, 7));
  reports.acked(8);
  EXPECT_THAT(firsts(0, 100), IsEmpty());
}

// Rows cost next to nothing, so that every node that was asked for is verified. The target says
// t + 1 after token t, and the prompt ends in 12.
VerifierConfig of_many_sequences() {
  VerifierConfig made = config_with(cost_of(0.008, 0.00001));
  made.sequences_max = kSequencesPerVerifierMax;
  made.cache_blocks = 2 * kSequencesPerVerifierMax;
  return made;
}

class TreeReportsTest : public VerifierStage {
 protected:
  TreeReportsTest() : VerifierStage(of_many_sequences()) { meet_drafter(); }

  To<Advance> begins(int32_t trees) {
    Start start = second();
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    start.spec.trees = trees;
    stage.hears(kRouter, start);
    return stage.says<Advance>();
  }
  Tokens after_step() {
    runs();
    sample_token();
    return stage.says<Tokens>().message;
  }
  void acks(int32_t next) { stage.hears(kRouter, Ack{{3, 2}, 1, next}); }
  // What a sequence is told whose guess was right, beside so many others that report their trees.
  Tokens beside(int others) {
    for (int other = 0; other < others; ++other) {
      Start start = VerifierStage::start();
      start.sequence.counter = 100 + static_cast<uint64_t>(other);
      start.spec.trees = 8;
      stage.hears(kRouter, start);
    }
    stage.hears(kDrafter, tree({{13, kRoot, .6F}}, begins(2)));
    for (int step = 0; step < 3; ++step) {
      runs();
      sample_token();
      while (!stage.silent<Tokens>()) {
        const To<Tokens> told = stage.says<Tokens>();
        if (told.message.sequence == SequenceId{3, 2}) return told.message;
      }
    }
    ADD_FAILURE() << "nothing was told";
    return {};
  }
};

TEST_F(TreeReportsTest, OfSoManySequencesAreMadeAtOnce) {
  const Tokens told = beside(kReportingSequencesMax - 1);
  EXPECT_EQ(told.ids, (std::vector<TokenId>{13, 14}));
  EXPECT_THAT(told.trees, SizeIs(1));
}

TEST_F(TreeReportsTest, OfMoreSequencesAreNotMade) {
  const Tokens told = beside(kReportingSequencesMax);
  EXPECT_EQ(told.ids, (std::vector<TokenId>{13, 14}));
  EXPECT_THAT(told.trees, IsEmpty());
}

TEST_F(TreeReportsTest, GoWithTheFirstTokenOfTheirRoundToARouterThatAsked) {
  stage.hears(kDrafter, tree({{50, kRoot, .4F}, {13, kRoot, .6F}, {77, 0, .3F}}, begins(2)));
  const Tokens told = after_step();
  EXPECT_EQ(told.ids, (std::vector<TokenId>{13, 14}));
  ASSERT_THAT(told.trees, SizeIs(1));
  const TreeReport& report = told.trees.front();
  EXPECT_EQ(report.first_index, 0);
  EXPECT_EQ(report.own, 14);
  EXPECT_THAT(report.proposers, ElementsAre(Proposer{"test", ""}));
  for (const ReportedNode& node : report.nodes) {
    EXPECT_EQ(node.fate, node.token == 13 ? NodeFate::accepted : node.token == 50 ? NodeFate::rejected : NodeFate::unreached);
  }
}

TEST_F(TreeReportsTest, AreNotMadeForARouterThatDidNotAsk) {
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, begins(0)));
  EXPECT_THAT(after_step().trees, IsEmpty());
}

TEST_F(TreeReportsTest, OfARoundWithoutAGuessAreNotMade) {
  stage.hears(kDrafter, tree({}, begins(2)));
  EXPECT_THAT(after_step().trees, IsEmpty());
}

TEST_F(TreeReportsTest, AreSentAgainUntilTheyAreAcked) {
  stage.hears(kDrafter, tree({{13, kRoot, .6F}}, begins(2)));
  const Tokens told = after_step();
  acks(0);
  EXPECT_EQ(stage.says<Tokens>().message.trees, told.trees) << "an Ack that repeats asks for it again";
  acks(2);
  EXPECT_TRUE(stage.silent<Tokens>());
  stage.waits(3ms);  // for no tree
  EXPECT_THAT(after_step().trees, IsEmpty());
}

}  // namespace
}  // namespace slipstream
