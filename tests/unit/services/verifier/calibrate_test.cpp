#include "services/verifier/calibrate.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// A machine on which a step takes 5 ms and 0.2 ms for each row, if nothing holds it up.
class Machine {
 public:
  StepTimes timed(int32_t room = kCpuStepRows, std::chrono::milliseconds time = kCalibrateFor) {
    return time_steps([this](int32_t rows) { return step(rows); }, room, time).value();
  }
  static double undisturbed(int32_t rows) { return 0.005 + 0.0002 * rows; }

  std::map<size_t, double> hiccups;  // trial -> seconds that it takes longer
  double slower = 1;
  std::vector<int32_t> tried;

 private:
  Result<double> step(int32_t rows) {
    tried.push_back(rows);
    return slower * undisturbed(rows) + hiccups[tried.size() - 1];
  }
};

void expect_all(const StepTimes& times, double slower = 1) {
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(times[i], slower * Machine::undisturbed(kCostRows[i]), 1e-9) << kCostRows[i];
}

TEST(TimeSteps, TriesEachSizeWhereThereIsTime) {
  Machine machine;
  expect_all(machine.timed());
  for (const int32_t rows : kCostRows)
    EXPECT_EQ(std::ranges::count(machine.tried, rows) > 0, rows <= kCpuStepRows) << rows;
  double all = 0;
  for (const int32_t rows : machine.tried) all += Machine::undisturbed(rows);
  EXPECT_THAT(all, DoubleNear(0.3, 0.07)) << "one step of 256 rows more at most";
}

TEST(TimeSteps, TriesLongStepsOfADeviceThatTakesThem) {
  Machine machine;
  machine.slower = 0.1;
  expect_all(machine.timed(kStepRowsMax), 0.1);
  for (const int32_t rows : kCostRows) EXPECT_THAT(machine.tried, testing::Contains(rows));
}

// A pause longer than all the trials once left one size known, with which a row in four costs four
// steps, so that no draft ever seemed to pay.
TEST(TimeSteps, LetsNoHiccupDecide) {
  for (size_t trial = 0; trial < 30; ++trial) {
    Machine machine;
    machine.hiccups[trial] = 0.43;
    const StepTimes times = machine.timed();
    for (size_t i = 0; i < times.size(); ++i) {
      EXPECT_LT(times[i] / Machine::undisturbed(kCostRows[i]), kCostRows[i] <= 16 ? 1.3 : 2.5) << trial << ", " << kCostRows[i];
    }
  }
  Machine machine;
  machine.hiccups = {{0, 0.33}, {1, 0.33}};
  expect_all(machine.timed());
}

TEST(TimeSteps, EndsOnAMachineThatIsHeldUpAllTheTime) {
  Machine machine;
  for (size_t trial = 1; trial < 1000; trial += 2) machine.hiccups[trial] = 0.2;
  machine.timed();
  EXPECT_LT(machine.tried.size(), 25U);
}

// A step of seconds: the first two say what the others cost.
TEST(TimeSteps, TriesTwoSizesOfASlowModel) {
  Machine machine;
  machine.slower = 1000;
  expect_all(machine.timed(), 1000);
  EXPECT_THAT(machine.tried, ElementsAre(1, 4));
}

TEST(TimeSteps, TriesOnlyWhatFits) {
  Machine machine;
  const StepTimes times = machine.timed(16);
  EXPECT_THAT(machine.tried, testing::Each(testing::Le(16)));
  expect_all(times);
  Machine small;
  EXPECT_EQ(small.timed(2)[0], Machine::undisturbed(1));
}

}  // namespace
}  // namespace slipstream
