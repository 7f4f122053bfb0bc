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

}  // namespace
}  // namespace slipstream
