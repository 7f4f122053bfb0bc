// When the target's draft head is asked: what its asks won beside what they cost.
#include "services/verifier/resident_head.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr double kStep = 0.008;  // seconds

// A head whose draft is one pass of a tenth of a step.
class ResidentHeadTest : public testing::Test {
 protected:
  ResidentHeadTest() { head_.drafted(1, kStep / 10, kStep / 10); }

  // So many asks for a sequence, of which each has a node verified, and one in `every` is accepted.
  void wins(HeadWorth& sequence, int asks, int every) {
    for (int i = 0; i < asks; ++i) head_.won(Rule::greedy, sequence, 1, i % every == every - 1 ? 1 : 0, 0);
  }
  bool pays(const HeadWorth& sequence, double guessed = 0, double row_price = 0.1) const {
    return head_.pays(Rule::greedy, sequence, guessed, row_price, kStep);
  }
  bool due(const HeadWorth& sequence) const { return head_.due_for_probe(Rule::greedy, sequence, 0.1, kStep); }

  ResidentHead head_{"eagle"};
  HeadWorth sequence_, other_;
};

TEST_F(ResidentHeadTest, IsNotAskedWhereOthersKnowTheToken) {
  wins(sequence_, 100, 1);
  EXPECT_TRUE(pays(sequence_, 0.7));
  EXPECT_FALSE(pays(sequence_, 0.95)) << "0.05 tokens to win, a pass costs 0.1";
}

// The way to the compute thread and back delays the next step as much as a pass does.
TEST_F(ResidentHeadTest, IsNotAskedWhereTheWayToItCostsMoreThanItWins) {
  wins(sequence_, 100, 6);  // 0.16 tokens, a row costs 0.1
  EXPECT_TRUE(pays(sequence_));
  for (int i = 0; i < 1000; ++i) head_.drafted(1, kStep / 10, kStep / 5);
  EXPECT_FALSE(pays(sequence_));
  EXPECT_NEAR(head_.pass_price(kStep), 0.1, 1e-6) << "a further pass takes no further way";
}

// An ask wins a token or none, so the first few say little of a head.
TEST_F(ResidentHeadTest, AnUnluckyBeginningIsForgotten) {
  for (int i = 0; i < kHeadTrialAsks; ++i) {
    EXPECT_TRUE(pays(sequence_, 0, 0.75)) << "it is tried, though a row costs more than was won";
    head_.won(Rule::greedy, sequence_, 1, i < kHeadTrialAsks / 2 ? 0 : 1, 0);
  }
  EXPECT_TRUE(pays(sequence_)) << "0.4 tokens an ask, a pass costs 0.1";
}

// Sixteen asks that win 0.4 tokens each in the long run win so few one time in fifty.
TEST_F(ResidentHeadTest, BadLuckAtFirstIsNotTakenForTheTruth) {
  wins(other_, kHeadTrialAsks, 8);  // 0.125 tokens, where pass and row cost 0.2
  EXPECT_TRUE(pays(other_)) << "beside what is hoped for of another text";
  wins(other_, 200, 8);
  wins(sequence_, 32, 8);
  EXPECT_FALSE(pays(sequence_)) << "so many asks are no bad luck";
}

TEST_F(ResidentHeadTest, RowsThatWereDearSayNothingOnceTheyAreCheap) {
  wins(sequence_, kHeadTrialAsks, 2);
  EXPECT_FALSE(pays(sequence_, 0, 0.75)) << "half a token an ask, and a row costs more: a busy machine";
  EXPECT_TRUE(pays(sequence_, 0, 0.1)) << "it is idle again";
}

TEST_F(ResidentHeadTest, ASequenceThatItGuessesWellIsAskedForWhereOthersAreNot) {
  wins(other_, 100, 12);  // less than a node costs
  wins(sequence_, 12, 2);
  EXPECT_TRUE(pays(sequence_));
  EXPECT_FALSE(pays(other_));
  wins(other_, 200, 2);
  wins(sequence_, 64, 1000);
  EXPECT_FALSE(pays(sequence_)) << "its text has changed";
  EXPECT_TRUE(pays(other_));
}

TEST_F(ResidentHeadTest, OfANewSequenceMoreIsHopedForThanOthersWon) {
  constexpr double kRow = 0.16;
  for (int text = 0; text < 400; ++text) {
    other_ = {};
    wins(other_, kHeadOwnAsksRemembered, 6);  // 0.167 tokens, where pass and row cost 0.26
  }
  EXPECT_FALSE(pays(other_, 0, kRow));
  EXPECT_TRUE(pays(sequence_, 0, kRow));
  wins(sequence_, kHeadTrialAsks, 100);
  EXPECT_FALSE(pays(sequence_, 0, kRow)) << "it is none of the better ones";
}

TEST_F(ResidentHeadTest, NothingIsHopedForOfAHeadThatIsAlwaysWrong) {
  for (int text = 0; text < 25; ++text) {
    HeadWorth sequence;
    wins(sequence, 8, 1000);
  }
  EXPECT_FALSE(pays(sequence_));
}

// Its first sequence says little of the next one, whose text is another.
TEST_F(ResidentHeadTest, AHardTextAtFirstIsNotTakenForTheTruth) {
  wins(other_, 64, 1000);
  EXPECT_FALSE(pays(other_));
  EXPECT_TRUE(pays(sequence_));
  wins(sequence_, 16, 1000);
  EXPECT_FALSE(pays(sequence_)) << "it is hard, too";
}

TEST_F(ResidentHeadTest, ProbesTakeAShareOfTheTime) {
  int steps = 0;
  for (; !due(sequence_); ++steps) head_.stepped(Rule::greedy, sequence_);
  EXPECT_NEAR(steps, 40, 1) << "a pass and a row cost 0.2 tokens, and one token in 200 may go into probes";
  EXPECT_TRUE(due(other_)) << "nobody was asked for";
  head_.drafted(1, 1, 1);
  for (; !due(sequence_); ++steps) head_.stepped(Rule::greedy, sequence_);
  EXPECT_EQ(steps, kProbeGapSteps) << "a dear one is probed, too";
}

TEST_F(ResidentHeadTest, ASequenceIsProbedAlsoWhereOthersAreAskedFor) {
  for (int i = 0; i < 41; ++i) {
    head_.stepped(Rule::greedy, sequence_);
    head_.stepped(Rule::greedy, other_);
    head_.asked(Rule::greedy, other_);
  }
  EXPECT_TRUE(due(sequence_));
  EXPECT_FALSE(due(other_));
}

TEST(ResidentHead, APassCostsWhatASequenceWouldHaveGotMeanwhile) {
  ResidentHead head("eagle");
  EXPECT_EQ(head.pass_price(0.008), 0) << "nobody knows yet";
  head.drafted(4, 0.004, 0.005);
  EXPECT_NEAR(head.pass_price(0.008), 0.125, 1e-6);
}

}  // namespace
}  // namespace slipstream
