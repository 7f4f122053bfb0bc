// Fields that are known and not built.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/router/http_api/chat_request.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

ApiResult<ChatRequest> with(std::string_view fields) {
  return parse_chat_request(fmt::format(R"({{"messages":[{{"role":"user","content":"hi"}}],{}}})", fields),
                            {.names = {"demo"}});
}

TEST(UnbuiltFields, AreTakenIfTheyAskForNothing) {
  const auto request =
      with(R"("logprobs":false,"top_logprobs":0,"tools":[],"tool_choice":"auto","logit_bias":{},"presence_penalty":0,
      "frequency_penalty":0.0,"repetition_penalty":1.0,"response_format":{"type":"text"},"modalities":["text"],
      "functions":[],"function_call":"none","suffix":null,
      "include_stop_str_in_output":false,"skip_special_tokens":true,"spaces_between_special_tokens":true,"echo":false,
      "add_generation_prompt":true,"continue_final_message":false,"documents":[],"chat_template_kwargs":{})");
  EXPECT_TRUE(request) << request.error().message;
}

TEST(UnbuiltFields, SayWhatToUseInTheirPlace) {
  EXPECT_TRUE(with(R"("function_call":"auto")"));
  for (const auto& [fields, param, words] :
       {std::tuple(R"("functions":[{"name":"f"}],"function_call":"none")", "functions", "send them as `tools`"),
        std::tuple(R"("functions":[{"name":"f"}])", "functions", "send them as `tools`"),
        std::tuple(R"("function_call":{"name":"f"})", "function_call", "use `tool_choice`"),
        std::tuple(R"("suffix":"x")", "suffix", "fill in the middle")}) {
    const auto request = with(fields);
    ASSERT_FALSE(request) << fields;
    EXPECT_EQ(request.error().code, "unsupported_parameter");
    EXPECT_EQ(request.error().param, param);
    EXPECT_THAT(request.error().message, HasSubstr(words));
  }
}

}  // namespace
}  // namespace slipstream
