#include "common/speculation/rejection/random_source.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/distributions/goodness_of_fit.h"

namespace slipstream {
namespace {

constexpr int kRounds = 200'000;  // a coin off by 1 % is ten standard deviations away

CounterRandom random(uint32_t round, NoisePurpose purpose = NoisePurpose::accept) {
  return {{.seed = 11, .choice = 2, .epoch = 3, .round = round}, purpose};
}

TEST(CounterRandom, AcceptsAsOftenAsAsked) {
  for (const double probability : {0.01, 0.5, 0.9}) {
    double accepted = 0;
    for (uint32_t round = 0; round < kRounds; ++round) accepted += random(round).accept(probability);
    const double deviation = std::sqrt(kRounds * probability * (1 - probability));
    EXPECT_LT(std::abs(accepted - kRounds * probability), kAlphaDeviate * deviation) << probability;
  }
}

TEST(CounterRandom, NeverAcceptsAtZeroAndAlwaysAtOne) {
  for (uint32_t round = 0; round < 10'000; ++round) {
    EXPECT_FALSE(random(round).accept(0.0));
    EXPECT_TRUE(random(round).accept(1.0));
  }
}

TEST(CounterRandom, PicksByWeight) {
  const std::vector<double> weights{0.5, 0.0, 1.5, 3.0, 2.5, 0.0, 0.25, 0.25};
  std::vector<uint64_t> counts(weights.size());
  for (uint32_t round = 0; round < kRounds; ++round) ++counts[random(round).pick(weights)];
  std::vector<double> distribution;
  for (const double weight : weights) distribution.push_back(weight / 8.0);
  EXPECT_GT(p_value(counts, distribution), kAlpha);
}

TEST(CounterRandom, DrawsByWeightAndNothingThatIsExcluded) {
  OwnedDistribution distribution;
  for (const auto& [id, weight] : {std::pair{1, 5u}, {4, 1u}, {9, 10u}, {12, 0u}, {20, 4u}}) distribution.add(id, weight);
  const std::vector<TokenId> without{0, 4, 10, 12};
  std::vector<uint64_t> counts(21), all(21);
  for (uint32_t round = 0; round < kRounds; ++round) {
    ++all[static_cast<size_t>(random(round, NoisePurpose::draft).draw(distribution.view(), {}))];
    ++counts[static_cast<size_t>(random(round, NoisePurpose::draft).draw(distribution.view(), without))];
  }
  std::vector<double> expected(21), expected_all(21);
  for (const TokenId id : {1, 9, 20})
    expected[static_cast<size_t>(id)] = static_cast<double>(distribution.view().weight(id)) / 19;
  for (const TokenId id : distribution.ids) expected_all[static_cast<size_t>(id)] = distribution.view().probability(id);
  EXPECT_GT(p_value(counts, expected), kAlpha);
  EXPECT_GT(p_value(all, expected_all), kAlpha);
}

// vLLM #54282: draft, accept and recovery noise from one stream.
TEST(CounterRandom, AnswersQuestionsOfOneRoundIndependently) {
  constexpr int kCells = 4;
  std::vector<uint64_t> counts(kCells * kCells * kCells);
  const std::vector<double> even(kCells, 1.0);
  for (uint32_t round = 0; round < kRounds; ++round) {
    CounterRandom drafter = random(round, NoisePurpose::draft), judge = random(round);
    const size_t drafted = drafter.pick(even);
    const size_t coins = static_cast<size_t>(judge.accept(0.5)) * 2 + static_cast<size_t>(judge.accept(0.5));
    ++counts[(drafted * kCells + coins) * kCells + judge.pick(even)];
  }
  const std::vector<double> distribution(counts.size(), 1.0 / static_cast<double>(counts.size()));
  EXPECT_GT(p_value(counts, distribution), kAlpha);
}

TEST(CounterRandom, AnswersAnewInEachRoundEpochAndChoice) {
  std::set<size_t> answers;
  const std::vector<double> many(1'000'000, 1.0);
  const auto ask = [&](CounterRandom::Key key, NoisePurpose purpose) { return CounterRandom(key, purpose).pick(many); };
  for (uint32_t i = 0; i < 4; ++i) {
    answers.insert(ask({.seed = 1 + i}, NoisePurpose::accept));
    answers.insert(ask({.seed = 9, .choice = i}, NoisePurpose::accept));
    answers.insert(ask({.seed = 10, .epoch = i}, NoisePurpose::accept));
    answers.insert(ask({.seed = 11, .round = i}, NoisePurpose::accept));
    answers.insert(ask({.seed = 11, .round = i}, NoisePurpose::draft));
  }
  EXPECT_EQ(answers.size(), 20u);
  EXPECT_EQ(ask({.seed = 3}, NoisePurpose::draft), ask({.seed = 3}, NoisePurpose::draft));
}

// docs/design/NOISE.md, 8: number, round, epoch * 8 + choice, purpose * 2.
TEST(CounterRandom, SpeaksTheWordsOfThePage) {
  const PhiloxWords words = philox({{1, 1000, 47, 2}}, 0x0123456789ABCDEF);
  const double u = noise_uniform(words.word[0], words.word[1]);
  const auto second = [](double probability) {
    CounterRandom random({.seed = 0x0123456789ABCDEF, .choice = 7, .epoch = 5, .round = 1000}, NoisePurpose::draft);
    random.accept(0.5);
    return random.accept(probability);
  };
  EXPECT_FALSE(second(u));
  EXPECT_TRUE(second(std::nextafter(u, 1.0)));
}

}  // namespace
}  // namespace slipstream
