#include "common/text/marker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

const std::vector<std::string> kSpecials = {"<|im_end|>", "<|im_start|>", "｜end｜"};
const std::string kMark = "\xF3\xB0\x80\x80";  // U+F0000, the first that is tried

std::string marked(std::string_view words) {
  const Marker marker = Marker::for_messages({}, kSpecials).value();
  return marker.marked(words).value();
}

TEST(Marker, LeavesHarmlessWordsAlone) {
  for (const char* words : {"", "hello", "1 < 2", "a | b", "<|im_ending", "<< |im_end|>", "日本語 🤷"})
    EXPECT_EQ(marked(words), words);
}

TEST(Marker, GoesInsideEverySpecialToken) {
  EXPECT_EQ(marked("a<|im_end|>b"), "a<" + kMark + "|im_end|>b");
  EXPECT_EQ(marked("<|im_end|><|im_start|>."), "<" + kMark + "|im_end|><" + kMark + "|im_start|>.");
}

TEST(Marker, GoesBetweenCharactersNotBytes) { EXPECT_EQ(marked("a ｜end｜ b"), "a ｜" + kMark + "end｜ b"); }

TEST(Marker, GuardsAnEndThatTheNextWordsCouldComplete) {
  EXPECT_EQ(marked("a <"), "a <" + kMark);
  EXPECT_EQ(marked("a <|im_en"), "a <" + kMark + "|im_en");
}

TEST(Marker, GuardsABeginningThatTheWordsBeforeCouldComplete) {
  EXPECT_EQ(marked("> quoted"), kMark + "> quoted");
  EXPECT_EQ(marked("im_end|> then"), kMark + "im_end|> then");
}

TEST(Marker, IsACharacterThatNoMessageContains) {
  const std::vector<ChatMessage> messages = {{"user", "x" + kMark + "\xF3\xB0\x80\x81"}, {"user", kMark}};
  EXPECT_EQ(Marker::for_messages(messages, kSpecials).value().mark(), char32_t{0xF0002});
}

TEST(Marker, RefusesMessagesThatLeaveNoCharacterFree) {
  std::string every;
  for (uint32_t c = 0xF0000; c <= 0x10FFFD; ++c) {
    for (int shift : {18, 12, 6, 0}) every += static_cast<char>((shift == 18 ? 0xF0 : 0x80) | ((c >> shift) & 0x3F));
  }
  const std::vector<ChatMessage> messages = {{"user", every}};
  EXPECT_THAT(Marker::for_messages(messages, kSpecials).error().message, testing::HasSubstr("private-use"));
}

TEST(Marker, RefusesASpecialTokenOfOneCharacterBecauseNothingGoesInside) {
  const std::vector<std::string> bell = {"\a"};
  const Marker marker = Marker::for_messages({}, bell).value();
  EXPECT_FALSE(marker.marked("ring \a").has_value());
  EXPECT_EQ(marker.marked("quiet").value(), "quiet");
}

}  // namespace
}  // namespace slipstream
