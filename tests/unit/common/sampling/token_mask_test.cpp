#include "common/sampling/token_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

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

}  // namespace
}  // namespace slipstream
