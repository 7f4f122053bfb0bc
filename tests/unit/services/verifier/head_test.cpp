// The target's draft head inside the verifier: when it is asked, and what becomes of its trees.
#include <gmock/gmock.h>

#include "common/drafting/ngram.h"
#include "services/verifier/resident_head.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

VerifierConfig with_head(const CostModel& cost, std::optional<TokenMask> draft_vocabulary, std::optional<ChainRule> rule) {
  VerifierConfig made = config_with(cost);
  made.head = "eagle";
  made.draft_vocabulary = std::move(draft_vocabulary);
  made.head_rule = rule;
  return made;
}

// The model adds 1 to each token.
class HeadTest : public VerifierStage {
 protected:
  explicit HeadTest(std::unique_ptr<Method> resident = nullptr, std::optional<TokenMask> draft_vocabulary = {},
                    std::optional<ChainRule> rule = {})
      : VerifierStage(with_head(cost_of(0.008, 0.0005), std::move(draft_vocabulary), rule), std::move(resident)) {}

  Start start() {
    Start start = second();
    start.drafters = {};
    start.spec.output_max = 900;
    start.spec.stop_ids = {};
    start.tokens = {10, 11, 12};
    start.lease_ms = kLeaseMsMax;
    return start;
  }
  // The job that the verifier wants to run now.
  VerifyPlan& job() {
    if (!stage.running()) job_ = &stage.runs();
    return *job_;
  }
  const std::vector<HeadAsk>& asked() { return job().head_asks; }  // of the head; empty: the job is a step
  bool drafts() { return !asked().empty(); }
  // The head answers with a chain of these tokens for each sequence.
  void guess(std::initializer_list<TokenId> tokens, uint32_t forward_us = 400, float chance = 0.9F) {
    std::vector<TreeNode> nodes;
    float survival = 1;
    for (const TokenId token : tokens) {
      survival *= chance;
      nodes.push_back({token, static_cast<int32_t>(nodes.size()) - 1, survival});
    }
    const TokenTree tree = TokenTree::make(nodes, 100).value();
    HeadTrees trees{.trees = {}, .passes = 1};
    for (const HeadAsk& ask : asked()) {
      trees.trees.push_back(is_sampled(ask.acceptance.rule) ? DraftTree::certain(tree) : DraftTree(tree));
    }
    stage.finishes(StepOutput{.head = trees, .forward_us = forward_us});
  }
  void step() {
    plan = &job().step;
    sample_token();
    stage.hears(kRouter, Ack{second().sequence, 1, static_cast<int32_t>(verifier.counters().output_tokens)});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  uint64_t of(Fate fate) const { return verifier.counters().fates.of(fate); }

 private:
  VerifyPlan* job_ = nullptr;
};

TEST_F(HeadTest, DraftsOnceThePromptIsComputed) {
  stage.hears(kRouter, start());
  EXPECT_FALSE(drafts()) << "no features are there yet";
  step();
  ASSERT_TRUE(drafts());
  EXPECT_EQ(asked().at(0).base.token, 13);
  EXPECT_EQ(asked().at(0).base.root, 3);
  EXPECT_EQ(asked().at(0).base.output, 1);
}

TEST_F(HeadTest, ItsTreeIsVerifiedByTheNextStep) {
  stage.hears(kRouter, start());
  step();
  guess({14, 15, 50});
  EXPECT_THAT(job().step.token, ElementsAre(13, 14, 15, 50));
  step();
  EXPECT_EQ(of(Fate::accepted), 2U);
  EXPECT_EQ(of(Fate::rejected), 1U);
  EXPECT_EQ(verifier.counters().draft_kinds.at(0).kind.method, "head");
  EXPECT_EQ(verifier.counters().draft_kinds.at(0).kind.model, "eagle");
}

TEST_F(HeadTest, NodesThatCostMoreThanTheyGainAreNotVerified) {
  stage.hears(kRouter, start());
  step();
  EXPECT_FALSE(asked().at(0).rule.chain);
  guess({14, 15, 16}, 400, 0.2F);
  EXPECT_THAT(job().step.token, ElementsAre(13, 14));
}

// The head samples the trees of the ratio family, of a size that is decided before.
TEST_F(HeadTest, SamplesForTheRatioFamilyAndNobodyElseDrafts) {
  meet_drafter();
  Start sampled = start();
  sampled.drafters = second().drafters;
  sampled.spec.sampling.temperature = 1;
  sampled.spec.acceptance = {.rule = Rule::ratio};
  stage.hears(kRouter, sampled);
  const uint64_t before = verifier.counters().fates.of(Fate::accepted);
  const auto emits = [&](std::vector<int32_t> accepted, std::vector<TokenId> emitted) {
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(job().step.wanted.size(), 0),
                              .rejections = {{.walk = {.accepted = std::move(accepted), .emitted = std::move(emitted)}}}});
  };
  EXPECT_FALSE(drafts()) << "no features are there yet";
  emits({}, {13});
  ASSERT_TRUE(drafts());
  const HeadAsk ask = asked().at(0);
  EXPECT_EQ(ask.acceptance.rule, Rule::ratio);
  EXPECT_EQ(ask.rule.threshold, 1);
  EXPECT_EQ(ask.rule.level_price, 0);
  EXPECT_GT(ask.rule.depth_max, 1);
  EXPECT_EQ(ask.rule.nodes_max, ask.rule.depth_max);
  EXPECT_EQ(ask.epoch, sampled.epoch);
  EXPECT_GT(ask.round, 0U);
  guess({14, 15});
  ASSERT_EQ(job().rejection_tasks.size(), 1U);
  EXPECT_EQ(job().rejection_tasks[0].tree.size(), 2);
  EXPECT_TRUE(job().rejection_tasks[0].tree.sampled());
  EXPECT_EQ(job().rejection_tasks[0].round, ask.round);
  emits({0}, {14, 20});
  EXPECT_EQ(of(Fate::accepted) - before, 1U);
  EXPECT_EQ(of(Fate::rejected), 1U);
  EXPECT_TRUE(stage.silent<Advance>());
}

TEST_F(HeadTest, SamplesNothingForARequestThatWantsNoDepth) {
  Start sampled = start();
  sampled.draft_depth_max = 0;
  sampled.spec.sampling.temperature = 1;
  sampled.spec.acceptance = {.rule = Rule::ratio};
  stage.hears(kRouter, sampled);
  EXPECT_FALSE(drafts());
  stage.finishes(StepOutput{.sampled_tokens = {0}, .rejections = {{.walk = {.accepted = {}, .emitted = {13}}}}});
  EXPECT_FALSE(drafts());
}

TEST(ChainLength, IsTheLevelsThatGainTheirPrice) {
  EXPECT_EQ(chain_length(0.5, 0.2, 8), 2);  // 0.5, 0.25, then 0.125
  EXPECT_EQ(chain_length(0.5, 0.6, 8), 0);
  EXPECT_EQ(chain_length(0.9, 0.0, 8), 8);
  EXPECT_EQ(chain_length(0.9, 0.0, 0), 0);
}

class HeadByRuleTest : public HeadTest {
 protected:
  HeadByRuleTest() : HeadTest(nullptr, {}, ChainRule{.length_max = 3}) {}
};

TEST_F(HeadByRuleTest, DraftsChainsAndVerifiesThemWhateverTheyCost) {
  stage.hears(kRouter, start());
  step();
  EXPECT_TRUE(asked().at(0).rule.chain);
  EXPECT_EQ(asked().at(0).rule.nodes_max, 3);
  EXPECT_EQ(asked().at(0).rule.threshold, 1);
  guess({14, 15, 16}, 400, 0.2F);
  EXPECT_THAT(job().step.token, ElementsAre(13, 14, 15, 16));
}

// Of its context the head is told what it cannot draft by itself, the newest word first.
class WordsOfHeadTest : public HeadTest {
 protected:
  WordsOfHeadTest()
      : HeadTest(nullptr, [] {
          TokenMask even(1000);
          for (TokenId token = 0; token < 1000; token += 2) even.allow(token);
          return even;
        }()) {}
};

TEST_F(WordsOfHeadTest, AreTheTokensOutsideItsVocabulary) {
  stage.hears(kRouter, start());
  step();
  EXPECT_THAT(asked().at(0).words, ElementsAre(13, 11));
  guess({14, 15});
  step();
  EXPECT_THAT(asked().at(0).words, ElementsAre(15, 13, 11)) << "the target said 14, 15 and 16";
}

TEST_F(HeadTest, IsToldNoWordsIfItScoresNoOthers) {
  stage.hears(kRouter, start());
  step();
  EXPECT_TRUE(asked().at(0).words.empty());
}

// Node 1 was accepted behind a rejected sibling, so its row moves before the head reads it.
TEST_F(HeadTest, DoesTheMovesOfTheStepBefore) {
  stage.hears(kRouter, start());
  step();
  ASSERT_TRUE(drafts());
  const std::vector<TreeNode> nodes{{50, kRoot, .9F}, {14, kRoot, .8F}};
  stage.finishes(
      StepOutput{.head = {.trees = {DraftTree(TokenTree::make(nodes, 100).value())}, .passes = 1}, .forward_us = 400});
  step();
  ASSERT_TRUE(drafts());
  ASSERT_EQ(asked().at(0).base.moves.size(), 1U);
  EXPECT_EQ(asked().at(0).base.moves[0].to + 1, asked().at(0).base.moves[0].from);
  guess({16});
  EXPECT_TRUE(job().step.moves.empty()) << "the head's pass has done them";
}

TEST_F(HeadTest, ASequenceThatEndsMeanwhileIsForgotten) {
  stage.hears(kRouter, start());
  step();
  ASSERT_TRUE(drafts());
  stage.hears(kRouter, Cancel{second().sequence, 1});
  guess({14});
  EXPECT_TRUE(stage.rests()) << "there is nothing left to compute";
  EXPECT_EQ(of(Fate::held), 0U);
}

TEST_F(HeadTest, IsAskedRarelyWhereItIsAlwaysWrong) {
  stage.hears(kRouter, start());
  step();
  int asked = 0;
  for (int round = 0; round < 300; ++round) {
    if (drafts()) {
      ++asked;
      guess({60, 61});
    }
    step();
  }
  EXPECT_LT(asked, 35);
  EXPECT_GT(asked, 3) << "it may become useful again";
}

// A pass that takes as long as a step costs a token, and wins less than one.
TEST_F(HeadTest, IsAskedRarelyWhereItsPassesCostMoreThanTheyWin) {
  stage.hears(kRouter, start());
  step();
  int asked = 0;
  for (int round = 0; round < 300; ++round) {
    if (drafts()) {
      ++asked;
      guess({static_cast<TokenId>(this->asked().at(0).base.token + 1)}, 12'000);
    }
    stage.finishes(StepOutput{.sampled_tokens = std::vector<TokenId>(job().step.wanted.size(), 13), .forward_us = 8000});
    stage.hears(kRouter, Ack{second().sequence, 1, static_cast<int32_t>(verifier.counters().output_tokens)});
    stage.hears(kRouter, RouterHeartbeat{.router = 3});
  }
  EXPECT_LT(asked, 30);
}

TEST_F(HeadTest, ADraftThatFailsCostsNoRequest) {
  stage.hears(kRouter, start());
  step();
  ASSERT_TRUE(drafts());
  stage.finishes(slipstream::fail("the device is gone"));
  EXPECT_FALSE(drafts()) << "the context is computed anew, plainly";
  EXPECT_THAT(job().step.token, ElementsAre(10, 11, 12, 13));
}

class HeadBesideLookUp : public HeadTest {
 protected:
  HeadBesideLookUp() : HeadTest(std::make_unique<NgramMethod>()) {}
};

TEST_F(HeadBesideLookUp, AGuessOfBothIsCreditedToLookUp) {
  Start repeats = start();
  repeats.tokens.clear();
  for (TokenId token = 10; token < 40; ++token) repeats.tokens.push_back(token);
  repeats.tokens.insert(repeats.tokens.end(), {10, 11});
  repeats.spec.prompt_length = static_cast<int32_t>(repeats.tokens.size());
  stage.hears(kRouter, repeats);
  step();
  ASSERT_TRUE(drafts());
  const TokenId root = asked().at(0).base.token;
  guess({root + 1});
  EXPECT_THAT(std::vector(job().step.token.begin(), job().step.token.begin() + 2), ElementsAre(root, root + 1));
  EXPECT_EQ(of(Fate::merged), 1U);
}

}  // namespace
}  // namespace slipstream
