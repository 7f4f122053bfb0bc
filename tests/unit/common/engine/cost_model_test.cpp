#include "common/engine/cost_model.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

// A machine: so long a step, so long a row, a pair, a position that a sequence reads.
struct Machine {
  double step = 4e-3, row = 1e-4, pair = 1e-8, read = 4e-8;
  double operator()(StepLoad load) const {
    return step + row * load.rows + pair * static_cast<double>(load.pairs) + read * static_cast<double>(load.reads);
  }
  CostModel model() const {
    StepTimes times;
    for (size_t i = 0; i < times.size(); ++i) times[i] = (*this)({kCostRows[i], 0});
    return {times, {.pair = pair, .read = read}};
  }
};

TEST(CostModel, KnowsWhatItWasToldAndWhatLiesBetween) {
  const Machine machine;
  const CostModel model = machine.model();
  for (const int32_t rows : {1, 2, 3, 8, 10, 63, 64, 65, 255, 256, 300}) {
    EXPECT_NEAR(model.seconds({rows, 0}), machine({rows, 0}), 1e-12) << rows;
    EXPECT_NEAR(model.seconds({rows, 5000, 300}), machine({rows, 5000, 300}), 1e-12) << rows;
  }
  EXPECT_EQ(model.seconds({}), 0);
}

TEST(CostModel, TakesNoStepForFasterThanASmallerOne) {
  StepTimes noisy;
  noisy.fill(0.01);
  noisy[3] = 0.02;
  const CostModel model(noisy, {});
  for (int32_t rows = 1; rows < 256; ++rows) EXPECT_LE(model.seconds({rows, 0}), model.seconds({rows + 1, 0}));
}

TEST(CostModel, CountsWhatRowsSeeForEachAndWhatSequencesReadOnce) {
  const StepLoad load = StepLoad{}.with(3, 10).with(1, 0);
  EXPECT_EQ(load.rows, 4);
  EXPECT_EQ(load.pairs, 11 + 12 + 13 + 1);
  EXPECT_EQ(load.reads, 13 + 1);
}

TEST(CostModel, FollowsAMachineThatSlowsDown) {
  const Machine before;
  CostModel model = before.model();
  for (int step = 0; step < 50; ++step) model.ran({8, 1000}, 3 * before({8, 1000}), 0);
  EXPECT_NEAR(model.seconds({8, 1000}) / before({8, 1000}), 3, 0.1);
  for (const int32_t rows : {1, 64, 256}) {
    EXPECT_NEAR(model.seconds({rows, 0}) / before({rows, 0}), 3, 0.5) << "a step of " << rows << " rows, though only 8 ran";
  }
}

// Streams, every second lot of them with trees, and beside every third a chunk of a prompt.
StepLoad any_step(int which, std::mt19937& random) {
  std::uniform_int_distribution<int32_t> streams(1, 16), tree(1, 8), chunk(1, 128), position(0, 4000);
  StepLoad load;
  for (int32_t left = streams(random); left > 0; --left) load = load.with(which % 2 == 0 ? tree(random) : 1, position(random));
  if (which % 3 == 0) load = load.with(chunk(random), position(random));
  return load;
}

TEST(CostModel, CorrectsATableThatWasWrong) {
  const Machine machine{.step = 2e-3, .row = 5e-4, .pair = 4e-8, .read = 1e-8};
  CostModel model = Machine().model();
  std::mt19937 random(1);
  double before = 0, after = 0;
  for (int step = 0; step < 20'100; ++step) {
    const StepLoad load = any_step(step, random);
    const double off = std::abs(model.seconds(load) / machine(load) - 1);
    if (step < 100) before = std::max(before, off);
    if (step >= 20'000) after = std::max(after, off);
    model.ran(load, machine(load), 0);
  }
  EXPECT_GT(before, 0.4);
  EXPECT_LT(after, 0.09);
}

// Where rows are taken for too dear nobody asks for them, but for a probe now and then.
TEST(CostModel, LearnsWhatRowsCostFromProbes) {
  const Machine machine{.step = 3.5e-3, .row = 5e-4}, told{.step = 3.5e-3, .row = 1e-3};
  CostModel model = told.model();
  for (int step = 0; step < 1'000; ++step) {
    const StepLoad load{step % 64 == 63 ? 2 : 1, 0};
    model.ran(load, machine(load), 0);
  }
  for (const int32_t rows : {2, 3, 4, 8}) {
    const double more = model.seconds({rows, 0}) - model.seconds({rows - 1, 0});
    EXPECT_GT(more, 0.8 * machine.row) << rows;
    EXPECT_LT(more, 1.5 * machine.row) << rows << ", though only steps of 1 and 2 ran";
  }
}

// One row of a model whose output layer is a third of it, and is screened where nothing is sampled.
TEST(CostModel, KnowsStepsThatReadTheWholeOutputLayerApart) {
  StepTimes screened, whole;
  screened.fill(0.006);
  whole.fill(0.006);
  screened[0] = 0.004;
  whole[0] = 0.0055;
  CostModel model(screened, {}, whole);
  const StepLoad one{.rows = 1}, sampled{.rows = 1, .whole_output = true};
  EXPECT_NEAR(model.seconds(one), 0.004, 1e-9);
  EXPECT_NEAR(model.seconds(sampled), 0.0055, 1e-9);
  EXPECT_TRUE(sampled.with(1, 10).whole_output);
  for (int step = 0; step < 200; ++step) model.ran(sampled, 0.0055, 0);
  for (int step = 0; step < 200; ++step) model.ran(sampled, 0.005, 0);
  EXPECT_NEAR(model.seconds(sampled), 0.005, 1e-5);
  EXPECT_NEAR(model.seconds({.rows = 2}) / model.seconds(one), 1.5, 1e-3) << "they say nothing of the shape of the others";
}

TEST(CostModel, IsNotThrownByOneStepThatAHiccupMadeLong) {
  const Machine machine;
  CostModel model = machine.model();
  model.ran({8, 0}, 10, 0);
  EXPECT_LT(model.seconds({8, 0}), 1.2 * machine({8, 0}));
}

TEST(CostModel, IgnoresAStepThatTookNoTime) {
  CostModel model = Machine().model();
  model.ran({8, 0}, 0, 1);
  EXPECT_EQ(model.seconds({8, 0}), Machine().model().seconds({8, 0}));
}

TEST(CostModel, OfAFixedCostIsCorrectedByNoStep) {
  CostModel model = CostModel::fixed(0.002);
  for (int step = 0; step < 100; ++step) model.ran({1, 0}, 0.5, 0.1);
  for (const StepLoad load : {StepLoad{1, 0}, StepLoad{64, 5000, 300}, StepLoad{300, 0}}) EXPECT_EQ(model.seconds(load), 0.002);
}

TEST(CostModel, AddsWhatAStepTakesBesideItsForwardPass) {
  const Machine machine;
  CostModel model = machine.model();
  for (int step = 0; step < 100; ++step) model.ran({8, 0}, machine({8, 0}), 0.002);
  EXPECT_NEAR(model.seconds({8, 0}), machine({8, 0}) + 0.002, 1e-6);
  EXPECT_NEAR(model.seconds({64, 0}), machine({64, 0}) + 0.002, 1e-6);
  EXPECT_NEAR(model.times()[3], machine({8, 0}), 1e-6);
}

TEST(CostModel, FindsTheMostRowsThatFit) {
  const Machine machine;
  const CostModel model = machine.model();
  const StepLoad base{4, 4000};
  for (const double seconds : {0.001, 0.006, 0.02, 1.0}) {
    const int32_t fits = model.rows_within(base, 700, 200, seconds);
    EXPECT_TRUE(fits == 0 || machine(base.with(fits, 700)) <= seconds + 1e-12) << seconds;
    EXPECT_TRUE(fits == 200 || machine(base.with(fits + 1, 700)) > seconds) << seconds;
  }
  EXPECT_EQ(model.rows_within(base, 0, 0, 1.0), 0);
}

TEST(CostModel, PricesNoMoreOfAContextThanAWindowLeaves) {
  const Machine machine;
  CostModel model = machine.model();
  EXPECT_EQ(model.seen(100'000), 100'000);
  model.set_window(700);
  EXPECT_EQ(model.seen(100'000), 700);
  EXPECT_EQ(model.seen(300), 300);
  EXPECT_EQ(model.rows_within({4, 4000}, 100'000, 200, 0.02), machine.model().rows_within({4, 4000}, 700, 200, 0.02));
}

}  // namespace
}  // namespace slipstream
