// Features of tokens for drafters that run the target's draft head.
#include <gmock/gmock.h>

#include "services/verifier/feature_window.h"
#include "services/verifier/verifier.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kHead = 42;

VerifierConfig sends_features() {
  VerifierConfig made = config();
  made.features = {.head = kHead, .numbers = 2};
  return made;
}

// The feature of a token is (token, 0), read from the slots that the step names.
class FeaturesTest : public VerifierStage {
 protected:
  explicit FeaturesTest(VerifierConfig given = sends_features())
      : VerifierStage(given), numbers_(static_cast<size_t>(given.features.numbers)) {}

  void attach_reader() {
    stage.up(kDrafter);
    EXPECT_EQ(stage.says<Attach>().message.head, kHead);
    stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = fingerprint, .method = "draft-head", .reads_features = true});
  }
  // The rule of VerifierStage, with features. The model's cache is here: a row writes its token.
  void step() {
    VerifyPlan& job = stage.runs();
    plan = &job.step;
    for (const KvMove& move : plan->moves) plane_[move.to] = plane_[move.from];
    for (int row = 0; row < plan->rows(); ++row) {
      plane_[plan->slot[static_cast<size_t>(row)]] = plan->token[static_cast<size_t>(row)];
    }
    StepOutput output;
    for (const int32_t row : plan->wanted) output.sampled_tokens.push_back(plan->token[static_cast<size_t>(row)] + 1);
    for (const int32_t slot : job.feature_slots) {
      output.features.push_back(static_cast<uint16_t>(plane_.at(slot)));
      output.features.resize(output.features.size() + numbers_ - 1);
    }
    stage.finishes(std::move(output));
  }
  // Tokens before each of an Advance's tokens, as its features say.
  std::vector<int> before(const Advance& advance) const {
    std::vector<int> tokens;
    for (size_t i = 0; i < advance.features.size(); i += numbers_) tokens.push_back(advance.features[i]);
    return tokens;
  }
  // A sequence begins, with a drafter that was met before.
  void begins() { begins(second()); }
  void begins(const Start& wanted) {
    stage.hears(kRouter, start({{77, "tcp://drafter"}}));
    attach_reader();
    stage.hears(kRouter, Cancel{{3, 1}, 1});
    if (!stage.rests()) step();
    stage.forget();
    plane_.clear();
    stage.hears(kRouter, wanted);
  }

  const size_t numbers_;              // of a feature
  std::map<int32_t, TokenId> plane_;  // by slot
};

TEST_F(FeaturesTest, ComeWithTheTokenThatFollows) {
  begins();
  const Advance first = stage.says<Advance>().message;
  EXPECT_TRUE(stage.silent<Advance>()) << "no step has computed a feature yet";
  step();
  const Advance rest = stage.says<Advance>().message;
  EXPECT_THAT(first.tokens, ElementsAre(10));
  EXPECT_TRUE(first.info.has_value());
  EXPECT_FALSE(first.draft);
  EXPECT_THAT(first.features, IsEmpty()) << "no token is before the first";
  EXPECT_THAT(rest.tokens, ElementsAre(11, 12, 13));
  EXPECT_THAT(before(rest), ElementsAre(10, 11, 12));
  EXPECT_TRUE(rest.draft);
  EXPECT_EQ(verifier.counters().features_sent, 3U);
}

// Rows of accepted nodes are moved in the next step only; those of rejected ones are left out.
TEST_F(FeaturesTest, OfATreeAreThoseOfItsAcceptedPath) {
  begins();
  step();
  stage.says<Advance>();
  stage.hears(kDrafter, tree({{14, kRoot, .9F}, {15, 0, .8F}}, stage.says<Advance>()));
  step();
  const auto second = stage.says<Advance>();
  EXPECT_THAT(before(second.message), ElementsAre(13, 14, 15));
  stage.hears(kDrafter, tree({{99, kRoot, .9F}, {17, kRoot, .9F}, {98, 1, .8F}, {18, 1, .8F}}, second));
  step();
  const Advance third = stage.says<Advance>().message;
  EXPECT_THAT(third.tokens, ElementsAre(17, 18, 19));
  EXPECT_THAT(before(third), ElementsAre(16, 17, 18));
}

TEST_F(FeaturesTest, AreReadAgainForADrafterThatLostThem) {
  begins();
  step();
  stage.says<Advance>();
  const Advance lost = stage.says<Advance>().message;
  stage.hears(kDrafter, Resync{lost.fence.sequence, 1, lost.fence.round, 0});
  EXPECT_TRUE(stage.silent<Advance>()) << "they lie in the target's cache";
  step();
  stage.says<Advance>();
  const Advance again = stage.says<Advance>().message;
  EXPECT_THAT(again.tokens, ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(before(again), ElementsAre(10, 11, 12, 13));
}

// Each Resync is a failure, so that its back-off grows.
TEST_F(FeaturesTest, AreSentRarelyToADrafterThatForgetsThemEachTime) {
  begins();
  int asks = 0;
  for (int steps = 0; steps < 18; ++steps) {
    step();
    while (!stage.silent<Advance>()) {
      const Advance advance = stage.says<Advance>().message;
      if (!advance.draft) continue;
      ++asks;
      stage.hears(kDrafter, Resync{advance.fence.sequence, 1, advance.fence.round, 0});
    }
  }
  EXPECT_GE(asks, 2);
  EXPECT_LE(asks, 5);
}

TEST_F(FeaturesTest, AreNotReadWhereNobodyNeedsThem) {
  stage.hears(kRouter, start({{77, "tcp://drafter"}}));
  attach();  // a drafter that reads none
  while (!stage.rests()) {
    EXPECT_THAT(stage.runs().feature_slots, IsEmpty());
    stage.finishes(StepOutput{.sampled_tokens = {kStop}});
  }
}

class FeaturesOfAPrompt : public FeaturesTest {
 protected:
  static VerifierConfig few_rows() {
    VerifierConfig made = sends_features();
    made.step_rows_max = 8;
    return made;
  }
  FeaturesOfAPrompt() : FeaturesTest(few_rows()) {}
};

// So that the drafter has read all but the last chunk when it is asked.
TEST_F(FeaturesOfAPrompt, AreSentWhileItIsComputed) {
  Start start = second();
  start.tokens.clear();
  for (TokenId token = 20; token < 32; ++token) start.tokens.push_back(token);
  start.spec.prompt_length = 12;
  begins(start);
  step();
  EXPECT_THAT(stage.says<Advance>().message.tokens, ElementsAre(20));
  const Advance chunk = stage.says<Advance>().message;
  EXPECT_THAT(chunk.tokens, ElementsAre(21, 22, 23, 24, 25, 26, 27, 28));
  EXPECT_THAT(before(chunk), ElementsAre(20, 21, 22, 23, 24, 25, 26, 27));
  EXPECT_FALSE(chunk.draft);
  step();
  const Advance last = stage.says<Advance>().message;
  EXPECT_THAT(last.tokens, ElementsAre(29, 30, 31, 32));
  EXPECT_THAT(before(last), ElementsAre(28, 29, 30, 31));
  EXPECT_TRUE(last.draft);
}

class LargeFeatures : public FeaturesTest {
 protected:
  static VerifierConfig four_a_step() {
    VerifierConfig made = sends_features();
    made.features.numbers = kFeatureNumbersAStep / 4;
    return made;
  }
  LargeFeatures() : FeaturesTest(four_a_step()) {}
};

// The answer goes on meanwhile. Each Advance has one token, since a feature is large.
TEST_F(LargeFeatures, AreReadAndSentInSeveralSteps) {
  Start start = second();
  start.tokens = {20, 21, 22, 23, 24, 25};
  start.spec.prompt_length = 6;
  begins(start);
  const auto says = [&](TokenId token, bool asks) {
    const Advance advance = stage.says<Advance>().message;
    EXPECT_THAT(advance.tokens, ElementsAre(token));
    EXPECT_EQ(before(advance), token == 20 ? std::vector<int>{} : std::vector<int>{token - 1});
    EXPECT_EQ(advance.draft, asks) << token;
  };
  step();  // the prompt and token 26; features of 20 to 23
  for (const TokenId token : {20, 21, 22, 23, 24}) says(token, false);
  EXPECT_TRUE(stage.silent<Advance>());
  step();  // token 27; features of 24 to 26, the newest but one
  for (const TokenId token : {25, 26}) says(token, false);
  says(27, true);
}

class NoFeatures : public VerifierStage {};

TEST_F(NoFeatures, RefuseADrafterThatNeedsThem) {
  stage.hears(kRouter, start({{77, "tcp://drafter"}}));
  stage.up(kDrafter);
  EXPECT_EQ(stage.says<Attach>().message.head, 0U);
  stage.forget();
  stage.hears(kDrafter, Attached{.drafter = 77, .fingerprint = fingerprint, .method = "draft-head", .reads_features = true});
  const Note note = stage.does<Note>();
  EXPECT_TRUE(note.warning);
  EXPECT_THAT(note.text, testing::HasSubstr("--head-at drafters"));
}

TEST(FeatureWindow, DropsWhatNobodyNeedsAndStartsAnewElsewhere) {
  FeatureWindow window;
  window.append(std::vector<uint16_t>{1, 2, 3, 4, 5, 6}, 3);
  window.keep_from(1);
  EXPECT_EQ(window.begin(), 1);
  EXPECT_EQ(window.end(), 3);
  EXPECT_THAT(window.rows(2, 1), ElementsAre(5, 6));
  window.keep_from(0);
  EXPECT_EQ(window.end(), 0) << "what was dropped must come again, and all behind it";
}

}  // namespace
}  // namespace slipstream
