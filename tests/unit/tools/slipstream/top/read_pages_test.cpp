#include "tools/slipstream/top/read_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::command::top {
namespace {

TEST(ReadWorkers, TakesWhatARouterSays) {
  const auto workers = read_workers(
      R"({"workers":[{"role":"verifier","incarnation":"1f","pid":71,"state":"ready","what":"cpu","metrics":"http://a:1/metrics",
          "sequences":3,"busy":0.5,"greedy_gain":null},{"role":"drafter","greedy_gain":0.25,"coupled_gain":0.125}]})");
  ASSERT_TRUE(workers) << workers.error().message;
  ASSERT_EQ(workers->size(), 2U);
  EXPECT_EQ(workers->at(0).incarnation, "1f");
  EXPECT_EQ(workers->at(0).pid, 71);
  EXPECT_EQ(workers->at(0).sequences, 3);
  EXPECT_EQ(workers->at(0).busy, 0.5);
  EXPECT_EQ(workers->at(0).greedy_gain, std::nullopt);
  EXPECT_EQ(workers->at(1).greedy_gain, 0.25);
  EXPECT_EQ(workers->at(0).coupled_gain, std::nullopt);
  EXPECT_EQ(workers->at(1).coupled_gain, 0.125);
}

TEST(ReadTuning, TakesEachKindAndTheFirstThreshold) {
  const auto tuning = read_tuning(
      R"({"first_threshold":0.5,"kinds":[{"method":"small-lm","model":"tiny","threshold":0.62,"depth_max":5,
          "why":"less likely nodes do not pay","verify_price_tokens":0.1,"draft_price_tokens":0.2}]})");
  ASSERT_TRUE(tuning) << tuning.error().message;
  ASSERT_EQ(tuning->kinds.size(), 1U);
  EXPECT_EQ(tuning->kinds[0].why, "less likely nodes do not pay");
  EXPECT_EQ(tuning->kinds[0].depth_max, 5);
  EXPECT_DOUBLE_EQ(tuning->kinds[0].draft_price, 0.2);
}

TEST(ReadTuning, KeepsTheFirstThresholdWhereNothingIsTuned) {
  const auto tuning = read_tuning(R"({"first_threshold":0.5,"kinds":[]})");
  ASSERT_TRUE(tuning);
  EXPECT_EQ(tuning->first_threshold, 0.5);
}

TEST(ReadPages, RefuseWhatIsNoSuchPage) {
  for (const char* text : {"", "{", "[]", R"({"workers":1})", "<html>"}) {
    EXPECT_FALSE(read_workers(text)) << text;
    EXPECT_FALSE(read_tuning(text)) << text;
  }
}

}  // namespace
}  // namespace slipstream::command::top
