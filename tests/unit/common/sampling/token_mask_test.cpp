#include "common/sampling/token_mask.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TokenMask mask_of(int32_t vocabulary, const std::vector<TokenId>& tokens) {
  TokenMask mask(vocabulary);
  for (const TokenId token : tokens) mask.allow(token);
  return mask;
}

TEST(TokenMaskTest, TellsWhichTokensItAllows) {
  const TokenMask mask = mask_of(70, {0, 31, 32, 69});
  EXPECT_THAT(mask.tokens(), testing::ElementsAre(0, 31, 32, 69));
  EXPECT_EQ(mask.count(), 4);
  EXPECT_TRUE(mask.allows(69));
  for (const TokenId other : {-1, 1, 33, 70, 1000}) EXPECT_FALSE(mask.allows(other)) << other;
}

TEST(TokenMaskTest, MasksAllOtherLogitsAndThoseBeyondIt) {
  std::vector<float> logits(100, 1.0F);
  allow_only(logits, mask_of(70, {3, 64}));
  for (size_t id = 0; id < logits.size(); ++id) EXPECT_EQ(logits[id], id == 3 || id == 64 ? 1.0F : -kInf) << id;
}

TEST(TokenMaskTest, LeavesLogitsThatAreNotFiniteForTheChainToRefuse) {
  std::vector<float> logits{NAN, kInf, 1.0F, -kInf};
  allow_only(logits, mask_of(4, {}));
  EXPECT_TRUE(std::isnan(logits[0]));
  EXPECT_EQ(logits[1], kInf);
  EXPECT_EQ(logits[2], -kInf);
  EXPECT_EQ(logits[3], -kInf);
}

}  // namespace
}  // namespace slipstream
