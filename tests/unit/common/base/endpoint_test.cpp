#include "common/base/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Endpoint, IsReadWithAndWithoutItsScheme) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:8080"), (Endpoint{"127.0.0.1", 8080}));
  EXPECT_EQ(parse_endpoint("tcp://127.0.0.1:7300"), (Endpoint{"127.0.0.1", 7300}));
  EXPECT_EQ(parse_endpoint("router.svc:7300"), (Endpoint{"router.svc", 7300}));
}

// Names of containers have it: two parsers disagreed on them, so that --check-config accepted what
// could not be connected to.
TEST(Endpoint, MayHaveAnUnderscoreInItsHost) {
  EXPECT_EQ(parse_endpoint("tcp://db_1:7300", Use::connect), (Endpoint{"db_1", 7300}));
}

TEST(Endpoint, EndsBeforeTheNameOfItsKey) {
  EXPECT_EQ(split_key("tcp://db_1:7300#router").endpoint, "tcp://db_1:7300");
  EXPECT_EQ(split_key("tcp://db_1:7300#router").key, "router");
  EXPECT_EQ(split_key("tcp://db_1:7300").endpoint, "tcp://db_1:7300");
  EXPECT_EQ(split_key("tcp://db_1:7300").key, "");
}

// Resolvers read a leading zero as octal: 0127.0.0.1 is 87.0.0.1.
TEST(Endpoint, IsNotOnLoopbackWithALeadingZero) {
  for (const char* text : {"0127.0.0.1:1", "127.0.0.01:1"}) EXPECT_FALSE(parse_endpoint(text)->loopback()) << text;
}

TEST(Endpoint, TakesAStarForAnyFreePort) {
  EXPECT_EQ(parse_endpoint("tcp://127.0.0.1:*"), (Endpoint{"127.0.0.1", 0}));
  EXPECT_EQ(parse_endpoint("127.0.0.1:0"), (Endpoint{"127.0.0.1", 0}));
}

TEST(Endpoint, WritesItselfForBothKindsOfSocket) {
  EXPECT_EQ((Endpoint{"127.0.0.1", 0}).tcp(), "tcp://127.0.0.1:*");
  EXPECT_EQ((Endpoint{"127.0.0.1", 7300}).tcp(), "tcp://127.0.0.1:7300");
  EXPECT_EQ((Endpoint{"127.0.0.1", 80}).address(), "127.0.0.1:80");
}

TEST(Endpoint, ReadsAnIpv6AddressInBracketsAndWritesItSo) {
  EXPECT_EQ(parse_endpoint("[::1]:8080"), (Endpoint{"::1", 8080}));
  EXPECT_EQ(parse_endpoint("[0:0::0:1]:8080"), (Endpoint{"::1", 8080})) << "two spellings of one address are equal";
  EXPECT_EQ(parse_endpoint("tcp://[2001:DB8::7]:7300", Use::connect), (Endpoint{"2001:db8::7", 7300}));
  EXPECT_EQ((Endpoint{"::1", 80}).address(), "[::1]:80");
  EXPECT_EQ((Endpoint{"::1", 7300}).tcp(), "tcp://[::1]:7300");
  EXPECT_EQ((Endpoint{"::", 0}).tcp(), "tcp://[::]:*");
  EXPECT_TRUE((Endpoint{"::1", 80}).ipv6());
  EXPECT_FALSE((Endpoint{"127.0.0.1", 80}).ipv6());
}

TEST(Endpoint, KnowsTheHostsThatStandForEveryAddress) {
  for (const char* text : {"0.0.0.0:1", "[::]:1", "[0:0:0:0:0:0:0:0]:1"}) {
    EXPECT_TRUE(parse_endpoint(text)->every_address()) << text;
    EXPECT_FALSE(parse_endpoint(text)->loopback()) << text;
  }
  for (const char* text : {"127.0.0.1:1", "[::1]:1", "host:1"}) EXPECT_FALSE(parse_endpoint(text)->every_address()) << text;
}

TEST(Endpoint, KnowsLoopback) {
  for (const char* text : {"127.0.0.1:1", "127.8.9.10:1", "localhost:1", "[::1]:1", "[0:0:0:0:0:0:0:1]:1"})
    EXPECT_TRUE(parse_endpoint(text)->loopback()) << text;
  for (const char* text : {"0.0.0.0:1", "[::2]:1", "[fe80::1]:1", "[::ffff:10.0.0.1]:1", "10.0.0.1:1", "127.example.org:1",
                           "127.0.0.1.example.org:1", "127.0.0.256:1"}) {
    EXPECT_FALSE(parse_endpoint(text)->loopback()) << text;
  }
}

TEST(Endpoint, RefusesWhatCannotBeRead) {
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8 0", "::1:80", "[::1]80",
        "[::1]", "[]:80", "[::1:80", "[fe80::1%eth0]:80", "[127.0.0.1]:80", "*:80", "a b:80", "http://127.0.0.1:80"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

TEST(Endpoint, SaysThatASchemeHasNoPlaceThere) {
  const auto endpoint = parse_endpoint("http://127.0.0.1:80");
  ASSERT_FALSE(endpoint);
  EXPECT_EQ(endpoint.error().message,
            "\"http://127.0.0.1:80\" begins with http://, which has no place here; write host:port alone, such as "
            "127.0.0.1:8080");
}

}  // namespace
}  // namespace slipstream
