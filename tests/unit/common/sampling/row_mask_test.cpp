#include "common/sampling/row_mask.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(RowMaskTest, MakesItsMaskOnceWhoeverAsks) {
  int made = 0;
  const RowMask mask([&] {
    ++made;
    return std::make_shared<const TokenMask>(4);
  });
  EXPECT_FALSE(mask.made());
  std::vector<const TokenMask*> seen(4);
  {
    std::vector<std::jthread> askers;
    for (const TokenMask*& one : seen) askers.emplace_back([&] { one = mask.get(); });
  }
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(mask.made());
  for (const TokenMask* one : seen) EXPECT_EQ(one, mask.get());
}

TEST(RowMaskTest, HasAMaskThatIsThereAlready) {
  const auto there = std::make_shared<const TokenMask>(4);
  const RowMask mask(there);
  EXPECT_TRUE(mask.made());
  EXPECT_EQ(mask.get(), there.get());
}

TEST(RowMaskTest, MayNotKnow) {
  const RowMask mask([] { return RowMask::Mask(); });
  EXPECT_EQ(mask.get(), nullptr);
  EXPECT_TRUE(mask.made());
}

}  // namespace
}  // namespace slipstream
