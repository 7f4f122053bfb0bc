#include "tools/slipstream/doctor/finding.h"

#include <gtest/gtest.h>

namespace slipstream::command::doctor {
namespace {

TEST(Finding, IsALineAndALineOfAdvice) {
  EXPECT_EQ(text_of(ok("cpu", "path avx2"), Palette(false)), "OK    cpu          path avx2\n");
  EXPECT_EQ(text_of(failed("memory", "too little", "buy some"), Palette(false)),
            "FAIL  memory       too little\n                   do: buy some\n");
}

TEST(Findings, AreCounted) {
  const Findings good{ok("a", ""), warn("b", "", "")}, bad{ok("a", ""), failed("b", "")};
  EXPECT_EQ(summary(good), "nothing fails, 1 warning");
  EXPECT_FALSE(any_fails(good));
  EXPECT_EQ(summary(bad), "1 of 2 checks fail, 0 warnings");
  EXPECT_TRUE(any_fails(bad));
}

}  // namespace
}  // namespace slipstream::command::doctor
