#include "services/verifier/masks_ahead.h"

#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using Masks = std::vector<std::shared_ptr<const RowMask>>;

std::shared_ptr<const RowMask> mask_that(std::function<void()> does) {
  return std::make_shared<const RowMask>([does = std::move(does)] {
    does();
    return std::make_shared<const TokenMask>(4);
  });
}

TEST(MasksAheadTest, MakesMasksOnAThreadOfItsOwnWhileTheStepRuns) {
  std::latch made(2);
  std::vector<std::thread::id> by;
  const auto note = [&] {
    by.push_back(std::this_thread::get_id());
    made.count_down();
  };
  const Masks masks{mask_that(note), mask_that(note)};
  MasksAhead::Thread thread;
  {
    const MasksAhead ahead(thread, masks);
    made.wait();  // nobody has asked for them
  }
  ASSERT_EQ(by.size(), 2U);
  EXPECT_EQ(by[0], by[1]);
  EXPECT_NE(by[0], std::this_thread::get_id());
}

TEST(MasksAheadTest, StopsBehindTheMaskItIsAtWhenTheStepEnds) {
  std::latch began(1), go_on(1);
  bool first = false, second = false;
  const Masks masks{mask_that([&] {
                      began.count_down();
                      go_on.wait();
                      first = true;
                    }),
                    mask_that([&] { second = true; })};
  MasksAhead::Thread thread;
  std::jthread releases;
  {
    const MasksAhead ahead(thread, masks);
    began.wait();
    releases = std::jthread([&] { go_on.count_down(); });
  }
  EXPECT_TRUE(first) << "the step has ended while a mask was being made";
  EXPECT_EQ(masks[1]->made(), second);
}

TEST(MasksAheadTest, TakesNoThreadWhereEveryMaskIsThere) {
  const Masks masks{std::make_shared<const RowMask>(std::make_shared<const TokenMask>(4))};
  MasksAhead::Thread thread;
  const MasksAhead ahead(thread, masks);
  EXPECT_EQ(thread, nullptr);
}

TEST(MasksAheadTest, ServesOneStepAfterTheOther) {
  MasksAhead::Thread thread;
  for (int step = 0; step < 100; ++step) {
    int made = 0;
    const Masks masks{mask_that([&] { ++made; }), mask_that([&] { ++made; })};
    {
      const MasksAhead ahead(thread, masks);
      masks[1]->get();
    }
    ASSERT_GE(made, 1);
    ASSERT_LE(made, 2);
  }
}

}  // namespace
}  // namespace slipstream
