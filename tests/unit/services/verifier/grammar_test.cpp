// A request with a grammar on its way through the verifier.
#include <gmock/gmock.h>

#include "common/grammar/grammar_cache.h"
#include "tests/data/grammars.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TokenId id(std::string_view letter) { return small_ids(letter).at(0); }

VerifierConfig with_grammars() {
  VerifierConfig made = config();
  made.fingerprint.vocabulary = small_vocabulary();
  made.grammars = small_grammars();
  return made;
}

// A verifier whose model takes the lowest token that its mask allows.
class VerifierGrammarTest : public VerifierStage {
 protected:
  explicit VerifierGrammarTest(const VerifierConfig& made = with_grammars()) : VerifierStage(made) {}

  static Start follows(std::string_view regex, std::vector<DrafterRef> drafters = {}) {
    Start asks = start(std::move(drafters));
    asks.spec.grammar = {GrammarForm::regex, std::string(regex)};
    asks.spec.stop_ids = {kSmallEnd};
    return asks;
  }
  // What the process does about a Start with a grammar.
  void compiles() {
    const GrammarText text = stage.does<CompileGrammar>().text;
    stage.tell(GrammarCompiled{text, GrammarCache::compiled(small_grammars(), text)});
  }
  void follows_beside() {
    FollowGrammar asked = stage.does<FollowGrammar>();
    stage.tell(GrammarFollowed{asked.sequence, asked.guide.follow(asked.tokens)});
  }
  void begins(const Start& asks) {
    stage.hears(kRouter, asks);
    compiles();
  }
  std::vector<TokenId> allowed(size_t wanted) const {
    const auto row = std::ranges::find(plan->processed, static_cast<int32_t>(wanted), &ProcessedRow::wanted);
    return row == plan->processed.end() ? std::vector<TokenId>()
                                        : plan->masks.at(static_cast<size_t>(row->mask))->get()->tokens();
  }
  void sample_lowest() {
    StepOutput output;
    for (size_t wanted = 0; wanted < plan->wanted.size(); ++wanted) {
      output.sampled_tokens.push_back(allowed(wanted).empty() ? 0 : allowed(wanted).front());
    }
    stage.finishes(std::move(output));
  }
};

TEST_F(VerifierGrammarTest, DraftsWhatTheGrammarForcesWithoutAnyDrafter) {
  begins(follows("on the way"));
  runs();
  sample_lowest();
  const Tokens tokens = stage.says<Tokens>().message;
  EXPECT_EQ(small_text(tokens.ids), "on the way") << "in one step, with the end";
  EXPECT_EQ(tokens.ids.back(), kSmallEnd);
  EXPECT_EQ(tokens.finish, Finish::stop);
}

TEST_F(VerifierGrammarTest, WritesTheSameWhenNothingMayBeDrafted) {
  Start asks = follows("[xyz]on the way");
  asks.draft_nodes_max = 0;
  begins(asks);
  std::vector<TokenId> ids;
  for (Finish finish = Finish::none; finish == Finish::none;) {
    runs();
    EXPECT_EQ(plan->wanted.size(), 1U);
    EXPECT_FALSE(plan->masks.at(0)->made()) << "the step makes it while it runs";
    sample_lowest();
    const Tokens tokens = stage.says<Tokens>().message;
    ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
    finish = tokens.finish;
    stage.hears(kRouter, Ack{{3, 1}, 1, static_cast<int32_t>(ids.size())});
  }
  EXPECT_EQ(small_text(ids), "xon the way");
}

TEST_F(VerifierGrammarTest, VerifiesNoNodeThatTheGrammarForbids) {
  meet_drafter();
  Start asks = follows("[ab][0-9]+", {{77, "tcp://drafter"}});
  asks.sequence.counter = 2;
  begins(asks);
  stage.hears(kDrafter, tree({{id("q"), kRoot, .95F}, {id("a"), kRoot, .9F}, {id("z"), 1, .9F}}, stage.says<Advance>()));
  runs();
  for (const TokenId forbidden : {id("q"), id("z")}) EXPECT_EQ(std::ranges::count(plan->token, forbidden), 0);
  EXPECT_EQ(std::ranges::count(plan->token, id("a")), 1) << "the grammar guesses it, too: one row";
  EXPECT_EQ(verifier.counters().fates.of(Fate::trimmed), 2U);
}

TEST_F(VerifierGrammarTest, TellsDraftersNothingOfTheGrammar) {
  meet_drafter();
  Start asks = follows("[a-z]+", {{77, "tcp://drafter"}});
  asks.sequence.counter = 2;
  begins(asks);
  EXPECT_EQ(stage.says<Advance>().message.info, drafter_part(second().spec));
}

TEST_F(VerifierGrammarTest, GoesOnWhereAnEarlierVerifierStopped) {
  Start asks = follows("abc");
  asks.tokens = {10, 11, 12, id("a"), id("b")};
  asks.epoch = 2;
  begins(asks);
  EXPECT_EQ(stage.says<Accepted>().message.epoch, 2U);
  EXPECT_TRUE(stage.idle<slipstream::Run<VerifyPlan>>()) << "a long output may take its grammar seconds";
  follows_beside();
  runs();
  EXPECT_THAT(allowed(0), ElementsAre(id("c")));
}

TEST_F(VerifierGrammarTest, RefusesWhatItCannotFollow) {
  const auto why = [&](const Start& asks) {
    stage.hears(kRouter, asks);
    if (!stage.idle<CompileGrammar>()) compiles();
    const Refused refused = stage.says<Refused>().message;
    EXPECT_FALSE(refused.retry);
    return refused.reason;
  };
  EXPECT_THAT(why(follows("(")), HasSubstr("regex"));
  Start biased = follows("a");
  biased.spec.sampling.temperature = 1;
  biased.spec.acceptance = {.rule = Rule::typical, .strength = .3F, .delta = .3F};
  EXPECT_THAT(why(biased), HasSubstr("declared bias"));
}

TEST_F(VerifierGrammarTest, EndsWhatLeftItsGrammarElsewhere) {
  Start strayed = follows("abc");
  strayed.tokens.push_back(id("x"));
  begins(strayed);
  follows_beside();
  const Tokens end = stage.says<Tokens>().message;
  EXPECT_EQ(end.finish, Finish::error);
  EXPECT_EQ(end.field, kGrammarField);
  EXPECT_TRUE(stage.idle<slipstream::Run<VerifyPlan>>());
}

TEST_F(VerifierGrammarTest, CompilesWhatItRefusedNoSecondTime) {
  begins(follows("("));
  const std::string reason = stage.says<Refused>().message.reason;
  stage.hears(kRouter, follows("("));
  EXPECT_TRUE(stage.idle<CompileGrammar>());
  EXPECT_EQ(stage.says<Refused>().message.reason, reason);
}

TEST_F(VerifierGrammarTest, AllowsAnotherTryWhereNotTheGrammarIsAtFault) {
  stage.hears(kRouter, follows("abc"));
  const GrammarText text = stage.does<CompileGrammar>().text;
  stage.tell(GrammarCompiled{text, std::unexpected(GrammarError{{"no thread is left"}, false})});
  EXPECT_TRUE(stage.says<Refused>().message.retry);
  begins(follows("abc"));
  EXPECT_EQ(stage.says<Accepted>().message.sequence, start().sequence);
}

TEST_F(VerifierGrammarTest, NamesTheGrammarWhereItAndAnotherMaskLeaveNoToken) {
  Start asks = follows("[ab]x");
  asks.spec.logits_params.allowed = {id("a"), id("b")};
  asks.draft_nodes_max = 0;
  begins(asks);
  runs();
  sample_lowest();
  stage.says<Tokens>();
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {-1}});
  const Tokens end = stage.says<Tokens>().message;
  EXPECT_EQ(end.finish, Finish::error);
  EXPECT_THAT(end.reason, HasSubstr("`allowed_token_ids` and `grammar` forbid every one"));
}

// Compiling may take a tenth of a second; a sequence needs a step each few milliseconds.
TEST_F(VerifierGrammarTest, GoesOnWithOthersWhileAGrammarIsCompiled) {
  stage.hears(kRouter, follows("abc"));
  EXPECT_TRUE(stage.silent<Accepted>()) << "a client sees that: it might still be refused";
  Start other = start();
  other.sequence.counter = 2;
  stage.hears(kRouter, other);
  EXPECT_EQ(stage.says<Accepted>().message.sequence, other.sequence);
  EXPECT_EQ(verifier.counters().live, 2U) << "the one that waits has a slot";
  runs();
  compiles();
  EXPECT_EQ(stage.says<Accepted>().message.sequence, start().sequence);
  sample_token();
  runs();
  EXPECT_THAT(allowed(1), ElementsAre(id("a")));
}

TEST_F(VerifierGrammarTest, CompilesAGrammarOnceForAllThatFollowIt) {
  const auto choice = [&](uint64_t number) {
    Start asks = follows("[a-z]+");
    asks.sequence.counter = number;
    return asks;
  };
  stage.hears(kRouter, choice(1));
  stage.hears(kRouter, choice(1));  // repeated: it has no answer yet
  stage.hears(kRouter, choice(2));
  compiles();
  for (const uint64_t number : {1, 2}) EXPECT_EQ(stage.says<Accepted>().message.sequence.counter, number);
  for (size_t other = 1; other <= 2 * kGrammarsKept; ++other) {  // of other clients, while the first two run
    Start asks = follows(std::string(other, 'x'));
    asks.sequence.counter = 10 + other;
    begins(asks);
    stage.hears(kRouter, Cancel{asks.sequence, 1});
  }
  stage.forget();
  stage.hears(kRouter, choice(3));
  EXPECT_EQ(stage.says<Accepted>().message.sequence.counter, 3U);
  EXPECT_TRUE(stage.idle<CompileGrammar>());
}

TEST_F(VerifierGrammarTest, ForgetsWhatIsCancelledWhileItsGrammarIsCompiled) {
  stage.hears(kRouter, follows("abc"));
  stage.hears(kRouter, Cancel{start().sequence, 1});
  EXPECT_EQ(verifier.counters().live, 0U);
  compiles();
  EXPECT_TRUE(stage.silent<Accepted>());
  stage.hears(kRouter, follows("abc"));
  EXPECT_EQ(stage.says<Accepted>().message.sequence, start().sequence) << "what was compiled is kept";
}

TEST_F(VerifierGrammarTest, TakesTheNewestOfTheStartsThatWait) {
  const auto of_epoch = [](Epoch epoch, std::string_view regex) {
    Start asks = follows(regex);
    asks.epoch = epoch;
    return asks;
  };
  stage.hears(kRouter, of_epoch(1, "abc"));
  stage.hears(kRouter, of_epoch(3, "abd"));
  stage.hears(kRouter, of_epoch(2, "abe"));
  compiles();
  EXPECT_TRUE(stage.silent<Accepted>());
  compiles();
  EXPECT_EQ(stage.says<Accepted>().message.epoch, 3U);
  EXPECT_TRUE(stage.idle<CompileGrammar>());
  EXPECT_EQ(verifier.counters().fenced, 1U);
}

TEST_F(VerifierGrammarTest, KeepsASlotForWhatWaits) {
  for (int number = 1; number <= kCpuSequences; ++number) {
    Start asks = follows("abc");
    asks.sequence.counter = static_cast<uint64_t>(number);
    stage.hears(kRouter, asks);
  }
  Start more = start();
  more.sequence.counter = 1000;
  stage.hears(kRouter, more);
  EXPECT_TRUE(stage.says<Refused>().message.retry);
}

VerifierConfig whose_masks_are_much_work() {
  VerifierConfig made = with_grammars();
  made.grammar_work_max_ns = 0;
  return made;
}

class SlowGrammar : public VerifierGrammarTest {
 protected:
  SlowGrammar() : VerifierGrammarTest(whose_masks_are_much_work()) {}
  // The first mask was made when the grammar was compiled; the second one is work.
  void writes_two() {
    for (int token = 0; token < 2; ++token) {
      runs();
      sample_lowest();
      EXPECT_EQ(small_text(stage.says<Tokens>().message.ids), "a");
    }
  }
};

// An ambiguous grammar takes ever longer: without this, 40 bytes of one stopped all other sequences
// for a minute.
TEST_F(SlowGrammar, FollowsItsOutputWhileOthersGoOn) {
  Start other = start();
  other.sequence.counter = 2;
  begins(follows("[a-z][a-z]c[de]"));
  writes_two();
  stage.hears(kRouter, other);
  runs();
  EXPECT_EQ(plan->wanted.size(), 1U) << "the other one's";
  sample_token();
  follows_beside();
  runs();
  sample_token();
  runs();
  EXPECT_EQ(plan->wanted.size(), 2U);
  EXPECT_TRUE(plan->masks.at(0)->made()) << "nobody waits for it in the step";
  EXPECT_THAT(plan->masks.at(0)->get()->tokens(), ElementsAre(id("c")));
}

TEST_F(SlowGrammar, DraftsNothing) {
  begins(follows("[a-z][a-z]cde"));
  writes_two();
  uint64_t considered = 0;
  for (const DraftKindCounters& kind : verifier.counters().draft_kinds) {
    for (const uint64_t rounds : kind.rounds) considered += rounds;
  }
  EXPECT_EQ(considered, 2U) << "its first two rounds: to draft it would need masks";
  follows_beside();
  runs();
  EXPECT_EQ(plan->wanted.size(), 1U) << "not even what the grammar forces";
}

TEST_F(SlowGrammar, IsForgottenWithItsSequence) {
  begins(follows("[a-z][a-z]c[de]"));
  writes_two();
  FollowGrammar asked = stage.does<FollowGrammar>();
  EXPECT_TRUE(asked.guide.shared());
  stage.hears(kRouter, Cancel{start().sequence, 1});
  EXPECT_FALSE(asked.guide.shared()) << "the thread leaves it alone";
  stage.tell(GrammarFollowed{asked.sequence, {}});
  EXPECT_EQ(verifier.counters().live, 0U);
}

class VerifierWithoutGrammarsTest : public VerifierStage {};

TEST_F(VerifierWithoutGrammarsTest, RefusesEveryGrammar) {
  Start asks = start();
  asks.spec.grammar = {GrammarForm::json_schema, "{}"};
  stage.hears(kRouter, asks);
  EXPECT_THAT(stage.says<Refused>().message.reason, HasSubstr("no tokenizer"));
}

}  // namespace
}  // namespace slipstream
