#include "services/router/http_api/tenant.h"

#include <string>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Tenant, IsTheKeyWhateverTheCaseOfTheScheme) {
  EXPECT_EQ(tenant_of("Bearer sk-one"), tenant_of("bearer sk-one"));
  EXPECT_NE(tenant_of("Bearer sk-one"), tenant_of("Bearer sk-two"));
  EXPECT_NE(tenant_of("Bearer sk-one"), kNoTenant);
}

// printf 'slipstream tenant\nsk-one' | sha256sum
TEST(Tenant, IsTheBeginningOfTheKeysHashAtEveryRouter) { EXPECT_EQ(tenant_of("Bearer sk-one"), 0xfef54adac4341748U); }

TEST(Tenant, OfNoKeyIsWhomAllAreIfTheyAreOne) {
  for (int key = 0; key < 1000; ++key) EXPECT_GT(tenant_of("Bearer " + std::to_string(key)), kEveryone);
}

TEST(Tenant, IsNobodyWithoutAKey) {
  for (const char* authorization : {"", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "sk-one"})
    EXPECT_EQ(tenant_of(authorization), kNoTenant) << authorization;
}

}  // namespace
}  // namespace slipstream
