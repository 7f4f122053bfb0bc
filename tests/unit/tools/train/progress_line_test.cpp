#include "tools/train/progress_line.h"

#include <gtest/gtest.h>

namespace slipstream::train {
namespace {

TEST(ProgressLine, SaysHowFarItIsAndHowLongItTakes) {
  Progress progress{.step = 120, .steps = 1000, .loss = 3.2141, .tokens_per_s = 5130.4, .left = std::chrono::seconds(244)};
  EXPECT_EQ(progress_text(progress), "step 120 of 1000  loss 3.214  5130 tokens/s  4 min left");
  progress.left = std::chrono::seconds(59);
  EXPECT_TRUE(progress_text(progress).ends_with("59 s left"));
  progress.left = std::chrono::minutes(125);
  EXPECT_TRUE(progress_text(progress).ends_with("2 h 5 min left"));
  progress.steps = 0;  // it ends after a time
  EXPECT_TRUE(progress_text(progress).starts_with("step 120  loss 3.214"));
}

}  // namespace
}  // namespace slipstream::train
