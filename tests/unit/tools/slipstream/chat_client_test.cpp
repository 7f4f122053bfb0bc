#include "tools/slipstream/chat_client.h"

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

TEST(ServerUrl, ReadsHostAndPort) {
  const auto url = ServerUrl::parse("http://127.0.0.1:8081/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8081);
  EXPECT_EQ(ServerUrl::parse("localhost")->port, 80);
}

TEST(ServerUrl, ReadsAnIpv6AddressInBrackets) {
  EXPECT_EQ(ServerUrl::parse("http://[::1]:8081")->host, "::1");
  EXPECT_EQ(ServerUrl::parse("http://[::1]:8081")->port, 8081);
  EXPECT_EQ(ServerUrl::parse("[2001:db8::7]")->host, "2001:db8::7");
  EXPECT_EQ(ServerUrl::parse("[2001:db8::7]")->port, 80);
  EXPECT_EQ(ServerUrl::parse("http://[::1]:8081")->text(), "http://[::1]:8081");
}

// OPENAI_BASE_URL and the base URL of every OpenAI client end with /v1.
TEST(ServerUrl, TakesTheFormOfABaseUrlToo) {
  for (const char* text : {"http://a:1/v1", "http://a:1/v1/", "a:1/v1"}) {
    const auto url = ServerUrl::parse(text);
    ASSERT_TRUE(url) << text;
    EXPECT_EQ(url->text(), "http://a:1") << text;
  }
}

TEST(ServerUrl, KnowsHttpsAndItsPort) {
  const auto url = ServerUrl::parse("https://router.example/v1");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->https);
  EXPECT_EQ(url->text(), "https://router.example:443");
  EXPECT_FALSE(ServerUrl::parse("http://a:1")->https);
  EXPECT_TRUE(url->client());
  EXPECT_FALSE(url->client("/nowhere/ca.pem"));
}

TEST(ServerUrl, RefusesWhatIsNoneAndShowsTheForm) {
  for (const char* text : {"", "http://", "http://a:0", "http://a:99999", "http://a:1x", "http://a:1/v2",
                           "http://a:1/v1/models", "http://::1:8080"}) {
    const auto url = ServerUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find("http://127.0.0.1:8080"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipstream::command
