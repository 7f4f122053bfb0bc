#include "services/drafter/drain.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(DrafterDrain, TellsWhoGoesOnWithoutIt) {
  EXPECT_EQ(told_to_stop({.live = 3}), "told to stop at once: 3 sequences go on without this drafter");
  EXPECT_EQ(told_to_stop({.live = 1}), "told to stop at once: 1 sequence goes on without this drafter");
  EXPECT_EQ(told_to_stop({}), "told to stop: no sequence is here");
}

TEST(DrafterDrain, TellsWhatItDid) {
  EXPECT_EQ(stopped({.trees = 40, .sequences_begun = 3}), "stopped: sequences begun in this life: 3, trees sent: 40");
}

}  // namespace
}  // namespace slipstream
