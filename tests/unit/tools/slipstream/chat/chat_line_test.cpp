#include "tools/slipstream/chat/chat_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::command::chat {
namespace {

using testing::HasSubstr;

std::string question(std::string_view line) {
  const auto read = read_chat_line(line);
  return read && std::holds_alternative<std::string>(*read) ? std::get<std::string>(*read) : "no question";
}

ChatCommand command(std::string_view line) {
  const auto read = read_chat_line(line);
  EXPECT_TRUE(read && std::holds_alternative<ChatCommand>(*read)) << line;
  return read && std::holds_alternative<ChatCommand>(*read) ? std::get<ChatCommand>(*read) : ChatCommand{};
}

std::string error(std::string_view line) {
  const auto read = read_chat_line(line);
  return read ? "no error" : read.error().message;
}

TEST(ChatLine, IsAQuestionUnlessItBeginsWithASlash) {
  EXPECT_EQ(question("  Why is the sky blue? "), "Why is the sky blue?");
  EXPECT_EQ(question("what is 1/2?"), "what is 1/2?");
  EXPECT_EQ(question(""), "");
}

TEST(ChatLine, AsksWithOneSlashWhatBeginsWithTwo) { EXPECT_EQ(question("//etc is what?"), "/etc is what?"); }

TEST(ChatLine, SplitsACommandFromItsArgument) {
  EXPECT_EQ(command("/system You are  a pirate. ").verb, Verb::system);
  EXPECT_EQ(command("/system You are  a pirate. ").argument, "You are  a pirate.");
  EXPECT_EQ(command("/system").argument, "");
  EXPECT_EQ(command("/save! a chat.md").verb, Verb::replace);
  EXPECT_EQ(command("/save! a chat.md").argument, "a chat.md");
  EXPECT_EQ(command("/quit").verb, Verb::quit);
}

TEST(ChatLine, NamesTheNearestCommandForOneThatIsNotThere) {
  EXPECT_THAT(error("/temprature 1"), HasSubstr("did you mean /temperature?"));
  EXPECT_THAT(error("/xyzzyxyzzy"), HasSubstr("/help shows all"));
}

TEST(ChatLine, RefusesAMissingArgumentAndOneTooMany) {
  EXPECT_THAT(error("/seed"), HasSubstr("/seed needs more: /seed N"));
  EXPECT_THAT(error("/retry now"), HasSubstr("/retry stands alone"));
}

TEST(ChatArguments, AreCheckedAndTheErrorSaysWhatIsAllowed) {
  EXPECT_EQ(read_seed("-7")->value(), -7);
  EXPECT_EQ(*read_seed("none"), std::nullopt);
  EXPECT_THAT(read_seed("7x").error().message, HasSubstr("a whole number, or none"));
  EXPECT_EQ(*read_temperature("0.5"), 0.5F);
  for (const char* bad : {"nan", "-1", "2.1", "", "hot"}) EXPECT_FALSE(read_temperature(bad)) << bad;
  EXPECT_TRUE(*read_switch("on"));
  EXPECT_FALSE(*read_switch("off"));
  EXPECT_FALSE(read_switch("yes"));
}

TEST(ChatHelp, HasALineForEveryCommand) {
  for (const char* name : {"/system", "/seed", "/temperature", "/drafter", "/retry", "/save", "/clear", "/help", "/quit"}) {
    EXPECT_THAT(chat_help(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace slipstream::command::chat
