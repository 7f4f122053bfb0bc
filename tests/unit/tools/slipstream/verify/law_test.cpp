#include "tools/slipstream/verify/law.h"

#include <random>

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

constexpr LawPlace kThree{.prompt = 0, .temperature = 1, .unit = Unit::token_id, .positions = 3};

// A chain over eight tokens whose next one depends on the last. `bias` of the candidate's draws get another token at `where`.
struct Source {
  double bias = 0;
  size_t where = 0;
  bool independent = false;  // the candidate forgets the last token; each position's own law stays as it is

  Draw one(bool candidate, std::mt19937_64& random) const {
    std::uniform_int_distribution<int> token(0, 7);
    std::bernoulli_distribution biased(bias), stay(0.5);
    Draw draw;
    int last = token(random);
    for (size_t position = 0; position < 3; ++position) {
      const bool fresh = position == 0 || (candidate && independent) || !stay(random);
      last = fresh ? token(random) : last;
      draw.units.push_back(std::to_string(candidate && position == where && biased(random) ? 0 : last));
    }
    return draw;
  }
  Draws draws(int samples) const {
    std::mt19937_64 random(11);
    Draws draws;
    for (int i = 0; i < samples; ++i) {
      draws.reference.push_back(one(false, random));
      draws.candidate.push_back(one(true, random));
    }
    return draws;
  }
};

LawResult judged(const Draws& draws, const LawPlace& place = kThree) {
  LawResult law{.tests = law_tests(draws, place), .alpha = 1e-6, .samples = draws.reference.size()};
  correct(law);
  return law;
}

TEST(LawTests, AreOneForEachPositionAndOneForEachTwoNeighbours) {
  const LawResult law = judged(Source{}.draws(2000));
  std::vector<std::string> places;
  for (const LawTest& test : law.tests) places.push_back(test.place);
  EXPECT_THAT(places,
              testing::ElementsAre("token 1", "token 2", "token 3", "tokens 1 and 2, jointly", "tokens 2 and 3, jointly"));
}

TEST(LawTests, FindNothingBetweenDrawsOfOneLaw) { EXPECT_FALSE(judged(Source{}.draws(5000)).different()); }

TEST(LawTests, FindATokenThatComesTooOften) {
  const LawResult law = judged(Source{.bias = 0.15, .where = 1}.draws(5000));
  EXPECT_TRUE(law.different());
  EXPECT_EQ(law.worst()->place, "token 2");
  EXPECT_GT(law.tests[0].adjusted, law.alpha) << "the first position is as it was";
}

TEST(LawTests, FindNeighboursThatHaveForgottenEachOther) {
  const LawResult law = judged(Source{.independent = true}.draws(5000));
  EXPECT_TRUE(law.different());
  for (size_t position = 0; position < 3; ++position) EXPECT_GT(law.tests[position].adjusted, law.alpha);
}

TEST(LawTests, CountAnEarlyEndAsSomethingSaid) {
  Draws draws = Source{}.draws(1000);
  for (size_t i = 0; i < 200; ++i) draws.candidate[i].units.resize(1);
  const LawResult law = judged(draws);
  EXPECT_GT(law.tests[0].adjusted, law.alpha);
  EXPECT_LE(law.tests[1].adjusted, law.alpha);
  EXPECT_EQ(std::ranges::count(law.tests[1].shares, "(end)", &Share::label), 1);
}

// One draw in five is given its first token; what is declared decides whether that is too much.
TEST(LawTests, HoldACandidateToWhatItDeclares) {
  Draws draws = Source{.bias = 0.2}.draws(8000);
  EXPECT_TRUE(judged(draws).different());
  draws.declared.assign(draws.candidate.size(), 0.2);
  const LawResult within = judged(draws);
  EXPECT_FALSE(within.different());
  EXPECT_EQ(within.tests.size(), 5U);
  EXPECT_NEAR(within.declared(), 0.2, 1e-12);
  EXPECT_NEAR(within.tests[0].excess->shift, 0.2 * 7 / 8, 0.03);
  draws.declared.assign(draws.candidate.size(), 0.05);
  const LawResult beyond = judged(draws);
  EXPECT_TRUE(beyond.different());
  EXPECT_EQ(beyond.worst()->place, "token 1");
}

TEST(LawTests, LeaveOutPairsThatTheDrawsCannotFill) { EXPECT_EQ(judged(Source{}.draws(60)).tests.size(), 3U); }

TEST(LawTests, OfTheSameWordEachTimeHaveNothingToCompare) {
  Draws draws;
  for (int i = 0; i < 500; ++i) {
    draws.reference.push_back({{"7"}, {"yes"}});
    draws.candidate.push_back({{"7"}, {"yes"}});
  }
  const LawResult law = judged(draws, {.prompt = 0, .temperature = 1, .unit = Unit::token_id, .positions = 1});
  EXPECT_FALSE(law.different());
  EXPECT_EQ(law.tests[0].test.degrees, 0);
  EXPECT_EQ(law.tests[0].shares[0].label, "7 \"yes\"");
  EXPECT_EQ(law.draws_needed(), 0);
}

TEST(LawTests, SayWhatTheyFindAndWhatOnePerCentWouldTake) {
  const LawResult few = judged(Source{}.draws(500)), many = judged(Source{}.draws(5000));
  EXPECT_LT(many.shift_found(), few.shift_found());
  EXPECT_GT(many.shift_found(), kSmallShift);
  EXPECT_GT(many.draws_needed(), 5000);
}

}  // namespace
}  // namespace slipstream::command::verify
