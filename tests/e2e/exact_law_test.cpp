#include "tests/e2e/exact_law.h"

#include <numeric>

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
  const auto law = ExactLaw::of(tiny_model(), prompt_);
  ASSERT_TRUE(law) << law.error().message;
  for (TokenId a = 0; a < law->vocabulary(); ++a) {
    const auto row = law->third(a, law->vocabulary() - 1 - a);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
  }
}

// A token's law in a tree is its law at the end of a prompt, to the bit: what the same words rest on.
TEST_F(ExactLawTest, IsTheSameFromATreeAsFromAPrompt) {
  const auto law = ExactLaw::of(tiny_model(), prompt_);
  ASSERT_TRUE(law) << law.error().message;
  for (const auto& [a, b] : {std::pair{5, 9}, {63, 40}, {31, 32}}) {
    std::vector<TokenId> longer = prompt_;
    longer.insert(longer.end(), {a, b});
    const auto alone = ExactLaw::of(tiny_model(), longer);
    ASSERT_TRUE(alone);
    const auto expected = alone->first();
    const auto found = law->third(a, b);
    for (size_t v = 0; v < expected.size(); ++v) EXPECT_EQ(found[v], expected[v]);
  }
}

TEST_F(ExactLawTest, IsBiasedByExactlyTheMassThatIsPlanted) {
  const auto law = ExactLaw::of(tiny_model(), prompt_);
  ASSERT_TRUE(law);
  ExactLaw biased = *law;
  biased.bias(2, 0.01);
  double variation = 0;
  for (size_t v = 0; v < law->third(4, 5).size(); ++v) variation += std::abs(law->third(4, 5)[v] - biased.third(4, 5)[v]) / 2;
  EXPECT_NEAR(variation, 0.01, 1e-12);
}

}  // namespace
}  // namespace slipstream::e2e
