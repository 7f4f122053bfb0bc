#include "common/base/printable.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(Printable, WordsOfAnyLanguageAre) {
  for (const char* text : {"", "small-lm", "Qwen3 0.6B (4 bits)", "modèle", "模型", "a\u00A0b", "\u00E9"}) {
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_EQ(one_line(text), text);
  }
}

TEST(Printable, WhatLeavesItsLineIsNot) {
  for (const char* text : {"a\nb", "a\rb", "\tb", "a\x7F", "\x1B[2J", "a\u0085", "a\u009B", "a\u2028b", "a\u2029"}) {
    EXPECT_FALSE(is_printable(text)) << one_line(text);
  }
}

TEST(Printable, WhatTurnsTheReadingOrderIsNot) {
  for (const char* text : {"a\u202Eb", "\u202A", "\u2066a", "\u2069"}) EXPECT_FALSE(is_printable(text)) << one_line(text);
}

TEST(Printable, OneLineShowsTheBytesOfWhatWouldLeaveIt) {
  EXPECT_EQ(one_line("a\nb\u2028c\u009Bd"), "a\\x0ab\\xe2\\x80\\xa8c\\xc2\\x9bd");
  EXPECT_TRUE(is_printable(one_line("\r\n\u202E\x7F")));
}

TEST(Printable, ACharacterThatIsCutShortIsLeftAlone) {
  EXPECT_EQ(one_line("a\xE2\x80"), "a\xE2\x80");
  EXPECT_EQ(one_line("a\xC2"), "a\xC2");
}

}  // namespace
}  // namespace slipstream
