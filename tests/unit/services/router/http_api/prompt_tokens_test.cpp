// What errors say of a prompt that is too long.
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

TEST_F(HttpApiTest, NamesTheResultOfAToolThatIsMostOfAChat) {
  const auto chat = [](size_t question, size_t result) {
    return fmt::format(R"({{"messages":[{{"role":"user","content":"{}"}},{{"role":"assistant","content":""}},
        {{"role":"tool","content":"{}"}}]}})",
                       std::string(question, 'x'), std::string(result, 'x'));
  };
  const json error = json::parse(post(chat(10, 1'000'000)).get().body)["error"];
  EXPECT_EQ(error["param"], "messages[2]");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("Your `messages` took at least"));
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("Most of it is `messages[2]`."));
  EXPECT_EQ(json::parse(post(chat(1'000'000, 10)).get().body)["error"]["param"], "messages");
  auto short_enough = post(chat(10, 20));
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.longest_result, "messages[2]") << "how long the context is, the router knows";
  deliver(submit.request, "x<|im_end|>", Finish::stop);
  short_enough.get();
}

}  // namespace
}  // namespace slipstream
