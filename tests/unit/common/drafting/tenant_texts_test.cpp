#include "common/drafting/tenant_texts.h"

#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(TenantTexts, KeepsEachTenantsTextApart) {
  TenantTexts texts;
  texts.append(7, std::vector<TokenId>{1, 2, 3});
  EXPECT_NE(texts.find(7), nullptr);
  EXPECT_EQ(texts.find(8), nullptr);
}

TEST(TenantTexts, KeepsNothingOfNobody) {
  TenantTexts texts;
  texts.append(kNoTenant, std::vector<TokenId>{1, 2, 3});
  EXPECT_EQ(texts.find(kNoTenant), nullptr);
  EXPECT_EQ(texts.tokens(), 0);
}

TEST(TenantTexts, ForgetsTheTenantThatWasSilentLongest) {
  TenantTexts texts;
  for (TenantId tenant = 1; tenant <= kTenantsMax; ++tenant) texts.append(tenant, std::vector<TokenId>{1});
  texts.append(1, std::vector<TokenId>{1});
  texts.append(kTenantsMax + 1, std::vector<TokenId>{1});
  EXPECT_EQ(texts.forgotten(), 1U);
  EXPECT_EQ(texts.find(2), nullptr);
  EXPECT_NE(texts.find(1), nullptr);
}

TEST(TenantTexts, TakesBoundedMemory) {
  TenantTexts texts;
  const std::vector<TokenId> much(kTenantTokensMax, 5);
  for (TenantId tenant = 1; tenant <= 20; ++tenant) texts.append(tenant, much);
  EXPECT_LE(texts.tokens(), kTenantsTokensMax);
  EXPECT_GT(texts.forgotten(), 0U);
  EXPECT_NE(texts.find(20), nullptr);
}

}  // namespace
}  // namespace slipstream
