#include "services/router/http_api/tenant.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

TEST(Tenant, IsTheKeyWhateverTheCaseOfTheScheme) {
  EXPECT_EQ(tenant_of("Bearer sk-one"), tenant_of("bearer sk-one"));
  EXPECT_NE(tenant_of("Bearer sk-one"), tenant_of("Bearer sk-two"));
  EXPECT_NE(tenant_of("Bearer sk-one"), kNoTenant);
}

// Two blanks were once another tenant.
TEST(Tenant, IsTheKeyHoweverManyBlanksAreBeforeIt) {
  for (const char* authorization : {"Bearer  sk-one", "BEARER   sk-one", "bearer\tsk-one", "Bearer \t sk-one"})
    EXPECT_EQ(tenant_of(authorization), tenant_of("Bearer sk-one")) << authorization;
  EXPECT_NE(tenant_of("Bearer sk one"), tenant_of("Bearer sk-one"));
  EXPECT_NE(tenant_of("Bearer sk one"), tenant_of("Bearer skone")) << "blanks within a key are its own";
}

// printf 'slipstream tenant\nsk-one' | sha256sum
TEST(Tenant, IsTheBeginningOfTheKeysHashAtEveryRouter) { EXPECT_EQ(tenant_of("Bearer sk-one"), 0xfef54adac4341748U); }

TEST(Tenant, OfNoKeyIsWhomAllAreIfTheyAreOne) {
  for (int key = 0; key < 1000; ++key) EXPECT_GT(tenant_of("Bearer " + std::to_string(key)), kEveryone);
}

TEST(Tenant, IsNobodyWithoutAKey) {
  for (const char* authorization :
       {"", "Bearer", "Bearer ", "Bearer  ", "Bearersk-one", "Basic dXNlcjpwYXNz", "sk-one", " sk-one"})
    EXPECT_EQ(tenant_of(authorization), kNoTenant) << authorization;
}

TEST_F(HttpApiTest, TellsTenantsApartByTheirApiKeys) {
  const auto tenant = [&](std::string_view header) {
    WireClient client(server.port());
    const std::string body = ask();
    client.send(fmt::format("{}{}Content-Length: {}\r\n\r\n{}", kPostHead, header, body.size(), body));
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "Hello<|im_end|>", Finish::stop);
    return submit.spec.tenant;
  };
  const TenantId one = tenant("Authorization: Bearer one\r\n");
  EXPECT_NE(one, kNoTenant);
  for (const char* again : {"Bearer one", "bearer one", "BEARER   one"})
    EXPECT_EQ(tenant(fmt::format("Authorization: {}\r\n", again)), one) << again;
  EXPECT_EQ(tenant("x-api-key: one\r\n"), one);
  EXPECT_NE(tenant("Authorization: Bearer two\r\n"), one);
  EXPECT_EQ(tenant(""), kNoTenant);
  for (const char* none : {"Bearer ", "one", "Basic one", "Bearerone"})
    EXPECT_EQ(tenant(fmt::format("Authorization: {}\r\n", none)), kNoTenant) << none;
}

TEST_F(HttpApiTest, TellsAClientThatItsKeyWasNotRead) {
  const auto warns = [&](std::string_view header) {
    WireClient client(server.port());
    const std::string body = ask();
    client.send(fmt::format("{}{}Content-Length: {}\r\n\r\n{}", kPostHead, header, body.size(), body));
    deliver(inbox.take<Submit>().request, "Hello<|im_end|>", Finish::stop);
    return client.answer().find("is not `Bearer KEY`") != std::string::npos;
  };
  EXPECT_TRUE(warns("Authorization: one\r\n"));
  EXPECT_FALSE(warns("Authorization: Bearer one\r\n"));
  EXPECT_FALSE(warns(""));
}

}  // namespace
}  // namespace slipstream
