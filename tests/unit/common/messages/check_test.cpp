#include "common/messages/check.h"

#include <cmath>

#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

Start good_start() { return {.spec = {.prompt_length = 1, .output_max = 5}, .tokens = {1, 2}}; }

TEST(MessageCheck, TakesWhatIsWithinTheLimits) {
  EXPECT_TRUE(check(GenerateMessage(good_start())));
  EXPECT_TRUE(check(DraftMessage(Tree{.nodes = {{.token = -7, .parent = 12}}})))
      << "whether it is a tree is TokenTree's to say";
}

TEST(MessageCheck, WantsThePromptWithinTheTokens) {
  Start start = good_start();
  start.spec.prompt_length = 3;
  EXPECT_FALSE(check(GenerateMessage(start)));
}

TEST(MessageCheck, HoldsSamplingToTheRangesOfTheRequest) {
  const auto refused = [](SamplingParams sampling) {
    Start start = good_start();
    start.spec.sampling = sampling;
    return !check(GenerateMessage(start)).has_value();
  };
  EXPECT_FALSE(refused({.temperature = 0}));
  EXPECT_FALSE(refused({.temperature = kTemperatureMin}));
  EXPECT_TRUE(refused({.temperature = kTemperatureMin / 2}));
  EXPECT_TRUE(refused({.temperature = std::nanf("")}));
  EXPECT_TRUE(refused({.top_k = -1}));
  EXPECT_TRUE(refused({.top_p = 0}));
  EXPECT_TRUE(refused({.min_p = 1}));
}

TEST(MessageCheck, NamesTheFieldAndTheLimit) {
  const auto result = check(DraftMessage(Advance{.tokens = std::vector<TokenId>(kAdvanceTokensMax + 1)}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "Advance.tokens has 4097 entries, the limit is 4096");
}

TEST(Boundary, IsKnownOfEveryMessage) {
  static_assert(boundary_of<Hello>() == Boundary::control);
  static_assert(boundary_of<Tokens>() == Boundary::generate);
  static_assert(boundary_of<Tree>() == Boundary::draft);
}

}  // namespace
}  // namespace slipstream
