// Who may do what only an admin may, when no key is asked for.
#include "services/router/client_access.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

int status(const std::string& http, const std::string& path) {
  RouterOptions options;
  options.http = http;
  auto access = open_client_access(options);
  EXPECT_TRUE(access);
  const auto refusal = access->refusal({.method = "POST", .path = path});
  return refusal ? refusal->status : 200;
}

TEST(ClientAccess, LeavesTheDrainingOfDraftersToThisMachineIfThereAreNoKeys) {
  const char* kDrain = "/drafters/00000000000000af/drain";
  for (const char* here : {"127.0.0.1:8080", "[::1]:8080"}) EXPECT_EQ(status(here, kDrain), 200) << here;
  for (const char* everywhere : {"0.0.0.0:8080", "[::]:8080", "10.0.0.5:8080"}) {
    EXPECT_EQ(status(everywhere, kDrain), 403) << everywhere;
    EXPECT_EQ(status(everywhere, "/v1/chat/completions"), 200) << everywhere;
  }
}

int status_of(const std::string& host, const RouterOptions& options, const std::string& path = "/v1/models") {
  auto access = open_client_access(options);
  EXPECT_TRUE(access);
  const auto refusal = access->refusal({.method = "GET", .path = path, .host = host});
  EXPECT_EQ(refusal ? refusal->code : "unknown_host", "unknown_host");
  return refusal ? refusal->status : 200;
}

TEST(ClientAccess, RefusesNamesThatSomebodyMakesLeadToThisMachine) {
  RouterOptions loopback;
  loopback.http = "127.0.0.1:8080";
  EXPECT_EQ(status_of("evil.example:8080", loopback), 403);
  EXPECT_EQ(status_of("localhost:8080", loopback), 200);
  EXPECT_EQ(status_of("evil.example:8080", loopback, "/health"), 200) << "a load balancer may call it anything";
  loopback.allowed_host = {"chat.example"};
  EXPECT_EQ(status_of("chat.example", loopback), 200) << "as a proxy passes it on";
  EXPECT_EQ(status_of("evil.example", loopback), 403);
}

TEST(ClientAccess, AsksForNoNameBeyondLoopbackUnlessTheOperatorNamesSome) {
  RouterOptions everywhere;
  everywhere.http = "0.0.0.0:8080";
  EXPECT_EQ(status_of("router.default.svc:8080", everywhere), 200);
  everywhere.allowed_host = {"router.default.svc"};
  EXPECT_EQ(status_of("router.default.svc:8080", everywhere), 200);
  EXPECT_EQ(status_of("evil.example", everywhere), 403);
}

TEST(ClientAccess, SaysHowAHostIsWritten) {
  RouterOptions options;
  options.allowed_host = {"https://chat.example"};
  const auto problems = client_access_problems(options);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("write a name such as chat.example"), std::string::npos);
}

}  // namespace
}  // namespace slipstream
