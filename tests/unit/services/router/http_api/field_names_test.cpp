#include "services/router/http_api/field_names.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

FieldNames names() {
  FieldNames names;
  names.add("messages", "input");
  names.add("messages[1]", "input[2]");
  names.add("messages[1].tool_calls[0].function", "input[3]");
  names.add("max_tokens", "max_output_tokens");
  return names;
}

TEST(FieldNames, AreThoseOfTheLongestNameThatBeginsAField) {
  EXPECT_EQ(names().own("messages"), "input");
  EXPECT_EQ(names().own("messages[0].content"), "input[0].content");
  EXPECT_EQ(names().own("messages[1].content[4]"), "input[2].content[4]");
  EXPECT_EQ(names().own("messages[1].tool_calls[0].function.name"), "input[3].name");
}

TEST(FieldNames, StayWhereThereIsNoOtherName) {
  for (const std::string field : {"temperature", "max_tokens_", "", "[", "logit_bias.7"}) EXPECT_EQ(names().own(field), field);
}

TEST(FieldNames, ChangeInAnErrorsParamAndInTheQuotesOfItsMessage) {
  const ApiError error =
      names().renamed({.message = "`min_tokens` is 5, more than `max_tokens`: max_tokens is ` 3", .param = "max_tokens"});
  EXPECT_EQ(error.message, "`min_tokens` is 5, more than `max_output_tokens`: max_tokens is ` 3");
  EXPECT_EQ(error.param, "max_output_tokens");
}

}  // namespace
}  // namespace slipstream
