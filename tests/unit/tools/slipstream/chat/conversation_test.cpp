#include "tools/slipstream/chat/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace slipstream::command::chat {
namespace {

using testing::HasSubstr;
using testing::Not;

Conversation of_two_turns() {
  Conversation conversation;
  conversation.system = "Be brief.";
  conversation.add({"one?", "1", ""});
  conversation.add({"two\nlines?", "2 and", "stopped"});
  return conversation;
}

TEST(Conversation, GivesEachQuestionBeforeItsAnswer) {
  const auto messages = of_two_turns().messages();
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].role, "user");
  EXPECT_EQ(messages[0].content, "one?");
  EXPECT_EQ(messages[3].role, "assistant");
  EXPECT_EQ(messages[3].content, "2 and");
}

TEST(Conversation, TakesBackTheLastTurnOnly) {
  Conversation conversation = of_two_turns();
  EXPECT_EQ(conversation.take_back(), "two\nlines?");
  EXPECT_EQ(conversation.take_back(), "one?");
  EXPECT_EQ(conversation.take_back(), std::nullopt);
}

TEST(Conversation, KeepsItsSystemMessageWhenItIsCleared) {
  Conversation conversation = of_two_turns();
  conversation.clear();
  EXPECT_TRUE(conversation.messages().empty());
  EXPECT_EQ(conversation.system, "Be brief.");
}

TEST(Conversation, IsMarkdownWithQuotedQuestionsAndMarkedCuts) {
  const std::string text = of_two_turns().markdown("demo");
  EXPECT_THAT(text, HasSubstr("# A chat with demo\n\n*System: Be brief.*\n\n> one?\n\n1\n"));
  EXPECT_THAT(text, HasSubstr("> two\n> lines?\n\n2 and\n\n*[stopped]*\n"));
}

TEST(Conversation, IsJsonThatARequestCanCarryOn) {
  const auto body = nlohmann::json::parse(of_two_turns().json("demo"));
  EXPECT_EQ(body["model"], "demo");
  ASSERT_EQ(body["messages"].size(), 5U);
  EXPECT_EQ(body["messages"][0]["role"], "system");
  EXPECT_EQ(body["messages"][2]["content"], "1");
  EXPECT_FALSE(body["messages"][2].contains("cut"));
  EXPECT_EQ(body["messages"][4]["cut"], "stopped");
}

}  // namespace
}  // namespace slipstream::command::chat
