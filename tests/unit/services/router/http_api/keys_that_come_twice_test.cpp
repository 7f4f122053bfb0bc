// Keys of a JSON object that come twice.
#include <gtest/gtest.h>

#include "services/router/http_api/chat_request.h"

namespace slipstream {
namespace {

// As Python and JavaScript read them, and those who compile JSON schemas.
TEST(KeysThatComeTwice, CountTheLastTime) {
  const auto request = parse_chat_request(R"({"n":2,"temperature":0.5,"temperature":0.25,"n":null,
      "messages":[{"role":"tool","role":"user","content":[{"type":"x","type":"text","text":"no","text":"yes"}]}],
      "tools":[{"function":{"name":"a","name":"f","parameters":{"type":"string","type":"object"}}}],
      "tool_choice":{"type":"x","type":"function","function":{"name":"a","name":"f"}}})",
                                          {.names = {"demo"}});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->spec.sampling.temperature, 0.25F);
  EXPECT_EQ(request->choices, 1);
  EXPECT_EQ(request->messages[0].role, "user");
  EXPECT_EQ(request->messages[0].content, "yes");
  EXPECT_EQ(request->extras.tools, R"([{"function":{"name":"f","parameters":{"type":"object"}}}])");
  EXPECT_EQ(request->call_only, "f");
}

}  // namespace
}  // namespace slipstream
