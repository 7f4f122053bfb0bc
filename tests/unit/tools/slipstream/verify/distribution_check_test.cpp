#include "tools/slipstream/verify/distribution_check.h"

#include <random>

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

constexpr SamplePlace kThree{.prompt = 0, .temperature = 1, .unit = Unit::token_id, .positions = 3};

// A chain over eight tokens whose next one depends on the last. `bias` of the candidate's draws get
// another token at `where`.
struct Source {
  double bias = 0;
  size_t where = 0;
  bool independent = false;  // the candidate forgets the last token; each position's own distribution stays as it is

  Sample one(bool candidate, std::mt19937_64& random) const {
    std::uniform_int_distribution<int> token(0, 7);
    std::bernoulli_distribution biased(bias), stay(0.5);
    Sample sample;
    int last = token(random);
    for (size_t position = 0; position < 3; ++position) {
      const bool fresh = position == 0 || (candidate && independent) || !stay(random);
      last = fresh ? token(random) : last;
      sample.units.push_back(std::to_string(candidate && position == where && biased(random) ? 0 : last));
    }
    return sample;
  }
  Samples samples(int count) const {
    std::mt19937_64 random(11);
    Samples samples;
    for (int i = 0; i < count; ++i) {
      samples.reference.push_back(one(false, random));
      samples.candidate.push_back(one(true, random));
    }
    return samples;
  }
};

DistributionResult judged(const Samples& samples, const SamplePlace& place = kThree) {
  DistributionResult distribution{
      .tests = distribution_tests(samples, place), .alpha = 1e-6, .samples = samples.reference.size()};
  correct(distribution);
  return distribution;
}

TEST(DistributionTests, AreOneForEachPositionAndOneForEachTwoNeighbours) {
  const DistributionResult distribution = judged(Source{}.samples(2000));
  std::vector<std::string> places;
  for (const DistributionTest& test : distribution.tests) places.push_back(test.place);
  EXPECT_THAT(places,
              testing::ElementsAre("token 1", "token 2", "token 3", "tokens 1 and 2, jointly", "tokens 2 and 3, jointly"));
}

TEST(DistributionTests, FindNothingBetweenDrawsOfOneDistribution) { EXPECT_FALSE(judged(Source{}.samples(5000)).different()); }

TEST(DistributionTests, FindATokenThatComesTooOften) {
  const DistributionResult distribution = judged(Source{.bias = 0.15, .where = 1}.samples(5000));
  EXPECT_TRUE(distribution.different());
  EXPECT_EQ(distribution.worst()->place, "token 2");
  EXPECT_GT(distribution.tests[0].adjusted_p, distribution.alpha) << "the first position is as it was";
}

TEST(DistributionTests, FindNeighboursThatHaveForgottenEachOther) {
  const DistributionResult distribution = judged(Source{.independent = true}.samples(5000));
  EXPECT_TRUE(distribution.different());
  for (size_t position = 0; position < 3; ++position) EXPECT_GT(distribution.tests[position].adjusted_p, distribution.alpha);
}

TEST(DistributionTests, CountAnEarlyEndAsSomethingSaid) {
  Samples samples = Source{}.samples(1000);
  for (size_t i = 0; i < 200; ++i) samples.candidate[i].units.resize(1);
  const DistributionResult distribution = judged(samples);
  EXPECT_GT(distribution.tests[0].adjusted_p, distribution.alpha);
  EXPECT_LE(distribution.tests[1].adjusted_p, distribution.alpha);
  EXPECT_EQ(std::ranges::count(distribution.tests[1].shares, "(end)", &Share::label), 1);
}

// One draw in five is given its first token; what is declared decides whether that is too much.
TEST(DistributionTests, HoldACandidateToWhatItDeclares) {
  Samples samples = Source{.bias = 0.2}.samples(8000);
  EXPECT_TRUE(judged(samples).different());
  samples.declared.assign(samples.candidate.size(), 0.2);
  const DistributionResult within = judged(samples);
  EXPECT_FALSE(within.different());
  EXPECT_EQ(within.tests.size(), 5U);
  EXPECT_NEAR(within.declared(), 0.2, 1e-12);
  EXPECT_NEAR(within.tests[0].excess->shift, 0.2 * 7 / 8, 0.03);
  samples.declared.assign(samples.candidate.size(), 0.05);
  const DistributionResult beyond = judged(samples);
  EXPECT_TRUE(beyond.different());
  EXPECT_EQ(beyond.worst()->place, "token 1");
}

// The first token is never drafted, so that nothing is spent there; what the third spends is no
// licence for it.
TEST(DistributionTests, HoldEachPositionToWhatIsSpentUpToIt) {
  Samples samples = Source{.bias = 0.2}.samples(8000);
  samples.declared.assign(samples.candidate.size(), 0.39);
  EXPECT_FALSE(judged(samples).different()) << "where the spending is told in total only";
  for (Sample& sample : samples.candidate) sample.spent = {0, 0, 0.39};
  const DistributionResult distribution = judged(samples);
  EXPECT_LE(distribution.tests[0].adjusted_p, distribution.alpha);
  EXPECT_EQ(distribution.tests[0].excess->declared, 0);
  EXPECT_NEAR(distribution.tests[2].excess->declared, 0.39, 1e-9);
  EXPECT_EQ(distribution.tests[3].excess->declared, 0) << "tokens 1 and 2";
  EXPECT_NEAR(distribution.tests[4].excess->declared, 0.39, 1e-9) << "tokens 2 and 3";
}

TEST(DistributionTests, SayHowManyAnswersHadADraftThere) {
  Samples samples = Source{}.samples(1000);
  EXPECT_FALSE(judged(samples).tests[0].drafted) << "nobody says";
  for (size_t i = 0; i < samples.candidate.size(); ++i) samples.candidate[i].drafted = {0, i % 2 == 0, i % 4 == 1};
  const DistributionResult distribution = judged(samples);
  EXPECT_EQ(distribution.tests[0].drafted, 0.0);
  EXPECT_EQ(distribution.tests[1].drafted, 0.5);
  EXPECT_EQ(distribution.tests[2].drafted, 0.25);
  EXPECT_EQ(distribution.tests[3].drafted, 0.5) << "tokens 1 and 2";
  EXPECT_EQ(distribution.tests[4].drafted, 0.75) << "tokens 2 and 3";
}

// Token 5 becomes 0 at the second place: of the pairs, those with a 0 there differ most.
TEST(DistributionTests, CallACellOfPairsByThePairThatDiffersMost) {
  Samples samples = Source{}.samples(4000);
  for (auto* side : {&samples.reference, &samples.candidate}) {
    for (Sample& sample : *side) {
      sample.units = {"1", sample.units[1], sample.units[2]};
      sample.texts = {"yes", sample.units[1] == "5" ? "five" : "", ""};
    }
  }
  for (Sample& sample : samples.candidate) {
    if (sample.units[1] == "5") sample.units[1] = "0";
  }
  const DistributionResult distribution = judged(samples);
  const auto& shares = distribution.tests[3].shares;
  EXPECT_EQ(distribution.tests[3].place, "tokens 1 and 2, jointly");
  const auto five =
      std::ranges::find_if(shares, [](const Share& share) { return share.label.starts_with(R"(1 "yes", 5 "five")"); });
  ASSERT_NE(five, shares.end());
  EXPECT_GT(five->count.reference, five->count.candidate);
}

TEST(DistributionTests, LeaveOutPairsThatTheDrawsCannotFill) { EXPECT_EQ(judged(Source{}.samples(60)).tests.size(), 3U); }

TEST(DistributionTests, OfTheSameWordEachTimeHaveNothingToCompare) {
  Samples samples;
  for (int i = 0; i < 500; ++i) {
    samples.reference.push_back({.units = {"7"}, .texts = {"yes"}});
    samples.candidate.push_back({.units = {"7"}, .texts = {"yes"}});
  }
  const DistributionResult distribution =
      judged(samples, {.prompt = 0, .temperature = 1, .unit = Unit::token_id, .positions = 1});
  EXPECT_FALSE(distribution.different());
  EXPECT_EQ(distribution.tests[0].test.degrees, 0);
  EXPECT_EQ(distribution.tests[0].shares[0].label, "7 \"yes\"");
  EXPECT_EQ(distribution.draws_needed(), 0);
}

TEST(DistributionTests, SayWhatTheyFindAndWhatOnePerCentWouldTake) {
  const DistributionResult few = judged(Source{}.samples(500)), many = judged(Source{}.samples(5000));
  EXPECT_LT(many.shift_found(), few.shift_found());
  EXPECT_GT(many.shift_found(), kSmallShift);
  EXPECT_GT(many.draws_needed(), 5000);
}

}  // namespace
}  // namespace slipstream::command::verify
