#include "common/zmq/allowed_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::HasSubstr;

TEST(AllowedEndpoint, IsAnyHostWithKeys) {
  for (const char* text : {"tcp://db_1:7300", "tcp://10.0.0.1:7300", "tcp://router.svc:7300", "tcp://localhost:7300"}) {
    EXPECT_TRUE(check_allowed(text, Use::connect, true)) << text;
    EXPECT_TRUE(check_allowed(text, Use::listen, true)) << text;
  }
}

TEST(AllowedEndpoint, IsThisHostWithoutKeys) {
  EXPECT_TRUE(check_allowed("tcp://localhost:7300", Use::connect, false));
  EXPECT_TRUE(check_allowed("tcp://127.8.9.10:*", Use::listen, false));
  for (const char* text : {"tcp://db_1:7300", "tcp://0127.0.0.1:7300"}) {
    const auto allowed = check_allowed(text, Use::connect, false);
    ASSERT_FALSE(allowed) << text;
    EXPECT_THAT(allowed.error().message, HasSubstr("is beyond this host, and without keys messages travel in clear")) << text;
  }
}

TEST(AllowedEndpoint, IsTcpWithAHostAndAPort) {
  for (const char* text : {"ipc:///x", "127.0.0.1:7300", "tcp://127.0.0.1", "tcp://:7300", "tcp://;:7300", "tcp://*:7300"}) {
    EXPECT_FALSE(check_allowed(text, Use::listen, true)) << text;
  }
  EXPECT_FALSE(check_allowed("tcp://127.0.0.1:*", Use::connect, true));
}

}  // namespace
}  // namespace slipstream
