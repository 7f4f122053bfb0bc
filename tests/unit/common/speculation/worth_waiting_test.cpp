#include "common/speculation/worth_waiting.h"

#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

using std::chrono::microseconds;

TEST(WorthWaiting, TakesAQuickTreeWithoutTheSlowOne) {
  EXPECT_EQ(worth_waiting({{microseconds(40'000), 0.5}, {microseconds(200), 0.5}}, 200), microseconds(200));
}

TEST(WorthWaiting, WaitsLongerForManyThanForOne) {
  const DueTree slow{microseconds(4'000), 0.5};
  EXPECT_EQ(worth_waiting({slow}, 200), std::nullopt) << "0.8 tokens for 0.5";
  EXPECT_EQ(worth_waiting({slow, slow}, 200), microseconds(4'000));
}

TEST(WorthWaiting, WaitsForNothingThatGainsNothing) {
  EXPECT_EQ(worth_waiting({}, 100), std::nullopt);
  EXPECT_EQ(worth_waiting({{microseconds(0), 0}}, 100), std::nullopt);
}

// Against every choice of a moment.
TEST(WorthWaiting, FindsTheBestMoment) {
  std::mt19937 dice(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<DueTree> trees(1 + dice() % 6);
    for (DueTree& tree : trees) tree = {microseconds(dice() % 10'000), static_cast<double>(dice() % 100) / 100};
    const double rate = static_cast<double>(dice() % 1000);
    const auto value = [&](microseconds until) {
      double sum = -rate * static_cast<double>(until.count()) * 1e-6;
      for (const DueTree& tree : trees) sum += tree.in <= until ? tree.gain : 0;
      return sum;
    };
    double best = 0;
    for (const DueTree& tree : trees) best = std::max(best, value(tree.in));
    const auto found = worth_waiting(trees, rate);
    ASSERT_NEAR(found ? value(*found) : 0, best, 1e-9);
  }
}

}  // namespace
}  // namespace slipstream
