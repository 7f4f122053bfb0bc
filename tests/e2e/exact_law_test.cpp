#include "tests/e2e/exact_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "tests/e2e/cluster.h"
#include "tests/e2e/prompt_ids.h"

namespace slipstream::e2e {
namespace {

class ExactLawTest : public testing::Test {
 protected:
  std::vector<TokenId> prompt_ = prompt_ids(tiny_model(), "hello");
};

TEST_F(ExactLawTest, SumsToOneOnEveryRow) {
  const auto law = ExactLaw::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(law) << law.error().message;
  for (const TokenId a : law->candidates()) {
    const auto row = law->after(std::array{a, law->candidates().back() - a});
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
  }
}

// A token's law in a tree is its law at the end of a prompt, to the bit: what the same words rest on.
TEST_F(ExactLawTest, IsTheSameFromATreeAsFromAPrompt) {
  const auto law = ExactLaw::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(law) << law.error().message;
  for (const std::array path : {std::array{5, 9}, {63, 40}, {31, 32}}) {
    std::vector<TokenId> longer = prompt_;
    longer.insert(longer.end(), path.begin(), path.end());
    const auto alone = ExactLaw::of(tiny_model(), longer, 1);
    ASSERT_TRUE(alone);
    const auto expected = alone->after({});
    const auto found = law->after(path);
    for (size_t v = 0; v < expected.size(); ++v) EXPECT_EQ(found[v], expected[v]);
  }
}

TEST_F(ExactLawTest, OfFewAllowedTokensIsTheSameFromATreeAsFromAPrompt) {
  const LawSetting setting{.temperature = 0.7, .how = {.allowed = {5, 40, 63}}};
  const auto law = ExactLaw::of(tiny_model(), prompt_, 6, setting);
  ASSERT_TRUE(law) << law.error().message;
  for (const std::array path : {std::array{5, 63, 40, 40, 5}, {63, 63, 63, 63, 63}}) {
    std::vector<TokenId> longer = prompt_;
    longer.insert(longer.end(), path.begin(), path.end());
    const auto alone = ExactLaw::of(tiny_model(), longer, 1, setting);
    ASSERT_TRUE(alone);
    const auto found = law->after(path);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-12);
    for (size_t v = 0; v < found.size(); ++v) EXPECT_EQ(found[v], alone->after({})[v]);
  }
}

double variation(const ExactLaw& law, const ExactLaw& other, std::span<const TokenId> path) {
  double sum = 0;
  for (size_t v = 0; v < law.after(path).size(); ++v) sum += std::abs(law.after(path)[v] - other.after(path)[v]) / 2;
  return sum;
}

TEST_F(ExactLawTest, IsBiasedByExactlyTheMassThatIsPlanted) {
  const auto law = ExactLaw::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(law);
  ExactLaw biased = *law;
  biased.bias(2, 0.01);
  EXPECT_NEAR(variation(*law, biased, std::array{4, 5}), 0.01, 1e-12);
}

// The ranks' mean law hardly moves, where every prefix's law does.
TEST_F(ExactLawTest, IsScatteredByTheMassThatIsPlantedWithoutDirection) {
  const auto law = ExactLaw::of(tiny_model(), prompt_, 3);
  ASSERT_TRUE(law);
  ExactLaw scattered = *law;
  scattered.scatter(2, 0.01);
  double moved = 0, of_first = 0;
  for (const TokenId a : law->candidates()) {
    for (const TokenId b : law->candidates()) {
      const std::array path{a, b};
      moved += variation(*law, scattered, path);
      const auto before = law->after(path);
      of_first += scattered.after(path)[static_cast<size_t>(std::ranges::max_element(before) - before.begin())] -
                  std::ranges::max(before);
    }
  }
  EXPECT_NEAR(moved / 4096, 0.01, 1e-4);
  EXPECT_LT(std::abs(of_first / 4096), 0.001);
}

}  // namespace
}  // namespace slipstream::e2e
