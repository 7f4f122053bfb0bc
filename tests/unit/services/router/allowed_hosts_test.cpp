#include "services/router/allowed_hosts.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(AllowedHosts, AllowAddressesAndThisMachinesOwnName) {
  const AllowedHosts none(std::vector<std::string>{});
  for (const char* host : {"", "localhost", "LocalHost:8080", "localhost.:8080", "chat.localhost:8080", "127.0.0.1",
                           "127.0.0.1:8080", "10.0.0.5:80", "[::1]", "[::1]:8080", "[fe80::1]:8080"}) {
    EXPECT_TRUE(none.allow(host)) << host;
  }
}

TEST(AllowedHosts, RefuseNamesThatSomebodyCanMakeLeadHere) {
  const AllowedHosts none(std::vector<std::string>{});
  for (const char* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example",
                           "notlocalhost", "[::1", "[evil]:80", "127.0.0.1@evil.example", "2130706433"}) {
    EXPECT_FALSE(none.allow(host)) << host;
  }
}

TEST(AllowedHosts, AllowNamesOfTheOperatorInAnyCaseAndAtAnyPort) {
  const AllowedHosts some({"Chat.Example", "other.example"});
  for (const char* host : {"chat.example", "CHAT.example:443", "chat.example.:443", "other.example"})
    EXPECT_TRUE(some.allow(host)) << host;
  for (const char* host : {"a.chat.example", "chat.example.evil", "example"}) EXPECT_FALSE(some.allow(host)) << host;
}

TEST(AllowedHosts, AllowEveryNameWhereNobodyAsksOrTheOperatorSaysSo) {
  EXPECT_TRUE(AllowedHosts().allow("evil.example"));
  EXPECT_TRUE(AllowedHosts({"*"}).allow("evil.example"));
}

TEST(AllowedHosts, AreNamedWithoutSchemePortAndPath) {
  for (const char* name : {"*", "chat.example", "router"}) EXPECT_TRUE(is_host_name(name)) << name;
  for (const char* name : {"", "https://chat.example", "chat.example:443", "chat.example/", "*.example"}) {
    EXPECT_FALSE(is_host_name(name)) << name;
  }
}

}  // namespace
}  // namespace slipstream
