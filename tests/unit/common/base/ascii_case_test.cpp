#include "common/base/ascii_case.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(AsciiCase, IsNoDifferenceBetweenLetters) {
  EXPECT_TRUE(is_but_for_case("BeArEr", "bearer"));
  EXPECT_FALSE(is_but_for_case("bearers", "bearer"));
  EXPECT_FALSE(is_but_for_case("bear", "bearer"));
}

TEST(AsciiCase, LeavesAllThatIsNoLetterOfAscii) {
  for (const char c : {'@', '[', '`', '{', '0', '\0', '\x80', '\xC4'}) EXPECT_EQ(small_letter(c), c);
  EXPECT_EQ(small_letter('A'), 'a');
  EXPECT_EQ(small_letter('Z'), 'z');
}

}  // namespace
}  // namespace slipstream
