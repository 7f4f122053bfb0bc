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

TEST(ServerUrl, RefusesWhatIsNoneAndShowsTheForm) {
  for (const char* text : {"", "http://", "https://a:1", "http://a:0", "http://a:99999", "http://a:1x", "http://a:1/v1"}) {
    const auto url = ServerUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find("http://127.0.0.1:8080"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipstream::command
