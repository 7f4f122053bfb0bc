#include "common/text/utf8.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr const char* kR = "\uFFFD";

TEST(Utf8, LeavesValidTextAlone) {
  for (const char* text : {"", "ascii", "é", "日本", "🤷", "\uFFFD", "\U0010FFFF"}) EXPECT_EQ(lossy_utf8(text), text);
}

TEST(Utf8, ReplacesEachMaximalIllFormedPartOnce) {
  const std::string r = kR;
  EXPECT_EQ(lossy_utf8("a\xFF"
                       "b"),
            "a" + r + "b");
  EXPECT_EQ(lossy_utf8("\x80\x80"), r + r);                  // continuations without a lead
  EXPECT_EQ(lossy_utf8("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(lossy_utf8("\xE0\x80\x80"), r + r + r);          // overlong
  EXPECT_EQ(lossy_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(lossy_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(lossy_utf8("\xF0\x9F\xA4"
                       "x"),
            r + "x");  // three bytes of four: one part
  EXPECT_EQ(lossy_utf8("\xE2\x82"), r);
}

TEST(Utf8, LeavesTheBeginningOfACharacterForTheNextBytes) {
  std::string bytes = "ab\xF0\x9F";
  EXPECT_EQ(take_utf8(bytes), "ab");
  EXPECT_EQ(bytes, "\xF0\x9F");
  bytes += "\xA4\xB7!";
  EXPECT_EQ(take_utf8(bytes), "🤷!");
  EXPECT_EQ(bytes, "");
}

TEST(Utf8, DoesNotWaitForBytesThatCannotHelp) {
  std::string bytes = "\xE0\x80";
  EXPECT_EQ(take_utf8(bytes), std::string(kR) + kR);
  EXPECT_EQ(bytes, "");
}

}  // namespace
}  // namespace slipstream
