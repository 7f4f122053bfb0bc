#include "services/router/http_api/tenant.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Tenant, IsTheKeyWhateverTheCaseOfTheScheme) {
  EXPECT_EQ(tenant_of("Bearer sk-one"), tenant_of("bearer sk-one"));
  EXPECT_NE(tenant_of("Bearer sk-one"), tenant_of("Bearer sk-two"));
  EXPECT_NE(tenant_of("Bearer sk-one"), kNoTenant);
}

TEST(Tenant, IsNobodyWithoutAKey) {
  for (const char* authorization : {"", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "sk-one"})
    EXPECT_EQ(tenant_of(authorization), kNoTenant) << authorization;
}

}  // namespace
}  // namespace slipstream
