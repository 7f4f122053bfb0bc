#include "tools/slipstream/fleet.h"

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

class HangWatchTest : public testing::Test {
 protected:
  // Of so many looks without an answer, the one after which it hangs; 0: none.
  int hangs_after(int looks, pid_t pid) {
    for (int look = 1; look <= looks; ++look) {
      if (watch.hangs("verifier", pid, false)) return look;
    }
    return 0;
  }
  void answers(pid_t pid) { EXPECT_FALSE(watch.hangs("verifier", pid, true)); }
  HangWatch watch;
};

TEST_F(HangWatchTest, WhoLetsManyLooksPassHangs) { EXPECT_EQ(hangs_after(2 * kHangLooks, 1), kHangLooks); }

TEST_F(HangWatchTest, OneAnswerBeginsTheCountAnew) {
  EXPECT_EQ(hangs_after(kHangLooks - 1, 1), 0);
  answers(1);
  EXPECT_EQ(hangs_after(kHangLooks - 1, 1), 0);
}

TEST_F(HangWatchTest, TheNextLifeIsNotBlamedForTheOneBefore) {
  EXPECT_EQ(hangs_after(kHangLooks - 1, 1), 0);
  EXPECT_EQ(hangs_after(kHangLooks, 2), kHangLooks);
}

TEST_F(HangWatchTest, EachServiceIsLookedAtByItself) {
  EXPECT_EQ(hangs_after(kHangLooks - 1, 1), 0);
  EXPECT_FALSE(watch.hangs("drafter", 7, true));
  EXPECT_EQ(hangs_after(1, 1), 1);
}

}  // namespace
}  // namespace slipstream::command
