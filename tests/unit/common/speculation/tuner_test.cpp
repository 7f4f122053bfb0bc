// The tuner, among workers of which everything is known: how often each guess is right, what a row
// and a level cost, and so which h is best.
#include "common/speculation/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr int kDepth = 8;
constexpr double kScrape = 0.25;  // seconds
constexpr int kExploring = 16;    // one round of so many has h = 1
const TunedKind kSmall{"small-lm", "tiny"};

// One verifier with some streams and one drafter that guesses chains. It says `says`^d of a node at
// depth d, of which right^d are accepted. Steps wait for each draft.
struct Town {
  double right = 0.7, says = 0.7;
  double late = 0;                       // share of the trees that come too late: nobody waits for them
  bool boasts = false, negated = false;  // says 1 of every node; says most of what is worst
  double streams = 1, root_seconds = 0.010, row_seconds = 0.0005, level_seconds = 0.002, fixed_seconds = 0;

  double stated(int depth) const {
    if (boasts) return 1;
    return negated ? 1 - 0.9 * std::pow(says, depth) : std::pow(says, depth);
  }
  int depth_at(double h) const {  // of the chain that is drafted
    int depth = 0;
    while (depth < kDepth && 1 - stated(depth + 1) <= h + 1e-9) ++depth;
    return depth;
  }
  double tokens(int depth) const {  // a round
    double tokens = 1;
    for (int d = 1; d <= depth; ++d) tokens += std::pow(right, d);
    return tokens;
  }
  double draft_seconds(int depth) const { return fixed_seconds + level_seconds * std::max(depth, 1); }  // the root is forwarded
  double step_seconds(int depth) const { return root_seconds + streams * row_seconds * (1 + depth); }
  double seconds(int depth) const { return step_seconds(depth) + draft_seconds(depth); }
  double goodput_at(int depth) const { return streams * tokens(depth) / seconds(depth); }
  double goodput(double h) const {
    const double share = 1.0 / kExploring;
    return (1 - share) * goodput_at(depth_at(h)) + share * goodput_at(kDepth);
  }
  double best() const {
    double best = 0;
    for (double h = 0; h <= 1; h += 0.01) best = std::max(best, goodput(h));
    return best;
  }
};

// The workers' counters, as they would export them.
class Workers {
 public:
  explicit Workers(Tuner& tuner) : tuner_(tuner) {
    for (const double rows : {1, 2, 4, 8, 16, 32, 64, 128, 256}) verifier_.step_cost.push_back({.rows = rows});
    verifier_.kinds.push_back({.kind = kSmall});
    drafter_.kind = kSmall;
    read();
  }

  // They work until the next scrape.
  void work(const Town& town) {
    const float h = threshold();
    double passed = 0;
    for (; passed < kScrape; ++rounds_) {
      const int depth = rounds_ % kExploring == 0 ? kDepth : town.depth_at(h);
      passed += town.seconds(depth);
      step(town, depth);
    }
    now_ += passed;
    read();
  }
  float threshold() const {
    const TunerSetting* setting = tuner_.find(kSmall);
    return setting == nullptr ? 1 : setting->threshold;
  }
  TuneReason reason() const { return tuner_.find(kSmall)->reason; }
  void read() {
    tuner_.read("verifier", verifier_, now_);
    tuner_.read("drafter", drafter_, now_);
    tuner_.look(now_ + kScrapeTakes);
  }
  void pass(double seconds) {
    now_ += seconds;
    tuner_.look(now_);
  }
  void restart() { verifier_ = {.step_cost = verifier_.step_cost, .kinds = {{.kind = kSmall}}}; }
  VerifierReading& verifier() { return verifier_; }
  DrafterReading& drafter() { return drafter_; }

 private:
  void step(const Town& town, int depth) {
    verifier_.steps += 1;
    verifier_.step_seconds += town.step_seconds(depth);
    verifier_.wait_seconds += (1 - town.late) * town.draft_seconds(depth);
    verifier_.kinds.front().in_time += (1 - town.late) * town.streams;
    verifier_.kinds.front().late += town.late * town.streams;
    verifier_.rounds += town.streams;
    verifier_.tokens += town.streams * town.tokens(depth);
    for (StepCost& cost : verifier_.step_cost) cost.seconds = town.root_seconds + town.row_seconds * cost.rows;
    for (int d = 1; d <= depth; ++d) {
      const double stated = town.stated(d), accepted = std::pow(town.right, d);
      NodeCounts& bin = verifier_.kinds.front().by_survival[survival_bin(stated)];
      NodeCounts& range = verifier_.kinds.front().by_depth[calibration_range(d)];
      for (NodeCounts* counts : {&bin, &range}) {
        counts->verified += town.streams;
        counts->expected += town.streams * stated;
        counts->accepted += town.streams * accepted;
      }
    }
    drafter_.jobs += 1;
    drafter_.asks += town.streams;
    drafter_.nodes += town.streams * depth;
    drafter_.seconds += town.draft_seconds(depth);
    LevelCounts& levels = drafter_.by_levels[calibration_range(std::max(depth, 1))];
    levels.jobs += 1;
    levels.levels += std::max(depth, 1);
    levels.seconds += town.draft_seconds(depth);
  }

  Tuner& tuner_;
  VerifierReading verifier_;
  DrafterReading drafter_;
  double now_ = 100;
  int rounds_ = 0;
};

// What h is worth after that many scrapes, beside the best fixed one.
double share_of_best(const Town& town, float first, int scrapes = 20) {
  Tuner tuner(first);
  Workers workers(tuner);
  for (int scrape = 0; scrape < scrapes; ++scrape) workers.work(town);
  return town.goodput(workers.threshold()) / town.best();
}

TEST(Tuner, FindsTheGoodRegionWithinTwentyScrapes) {
  const Town towns[] = {{},
                        {.right = 0.9, .says = 0.9},
                        {.right = 0.4, .says = 0.4},
                        {.level_seconds = 0.0002},
                        {.level_seconds = 0.006},
                        {.streams = 8},
                        {.streams = 8, .level_seconds = 0.0001},
                        {.right = 0.5, .says = 0.9},
                        {.right = 0.9, .says = 0.9, .level_seconds = 0.0005, .fixed_seconds = 0.003},
                        {.right = 0.9, .says = 0.5}};
  for (const Town& town : towns) {
    for (const float first : {0.1F, 0.99F}) {
      EXPECT_GE(share_of_best(town, first), 0.97) << "right " << town.right << ", says " << town.says << ", streams "
                                                  << town.streams << ", level " << town.level_seconds << ", from " << first;
    }
  }
}

TEST(Tuner, FollowsTheCosts) {
  Tuner tuner(1);
  Workers workers(tuner);
  Town town{.level_seconds = 0.0001};
  for (int scrape = 0; scrape < 20; ++scrape) workers.work(town);
  EXPECT_GE(town.goodput(workers.threshold()) / town.best(), 0.97);
  town.level_seconds = 0.006;
  for (int scrape = 0; scrape < 20; ++scrape) workers.work(town);
  EXPECT_GE(town.goodput(workers.threshold()) / town.best(), 0.97);
  const TunerSetting& setting = *tuner.find(kSmall);
  EXPECT_GT(setting.draft_price, setting.verify_price);
  EXPECT_NEAR(setting.level_seconds, 0.006, 0.0005);
  EXPECT_NEAR(setting.theorem_threshold, setting.step_seconds / (setting.step_seconds + setting.level_seconds), 1e-9);
  town.right = town.says = 0.95;  // another draft model
  for (int scrape = 0; scrape < 20; ++scrape) workers.work(town);
  EXPECT_GE(town.goodput(workers.threshold()) / town.best(), 0.97);
}

TEST(Tuner, GivesEachChangeANewVersion) {
  Tuner tuner(1);
  Workers workers(tuner);
  EXPECT_EQ(tuner.find(kSmall)->version, 0u);
  uint32_t version = 0;
  float before = 1;
  for (int scrape = 0; scrape < 30; ++scrape) {
    workers.work(Town{.level_seconds = scrape < 15 ? 0.0001 : 0.006});
    const TunerSetting& setting = *tuner.find(kSmall);
    EXPECT_EQ(setting.version, version + (setting.threshold != before ? 1 : 0));
    EXPECT_TRUE(setting.threshold == before || std::abs(setting.threshold - before) >= kThresholdStep ||
                setting.threshold == 0 || setting.threshold == 1);
    version = setting.version;
    before = setting.threshold;
  }
  EXPECT_GE(version, 2u);
  EXPECT_EQ(tuner.counters().changes, version);
  EXPECT_LE(version, 15u) << "and settles";
}

// What holds when nothing can be learnt.
class Holding : public testing::Test {
 protected:
  Holding() {
    for (int scrape = 0; scrape < 20; ++scrape) workers.work(Town{});
    good = workers.threshold();
  }
  Tuner tuner{1};
  Workers workers{tuner};
  float good = 0;
};

TEST_F(Holding, KeepsTheLastSettingWhenStatisticsStop) {
  workers.pass(kSourceSilent + 1);
  EXPECT_EQ(workers.threshold(), good);
  EXPECT_EQ(workers.reason(), TuneReason::stopped);
  workers.pass(2 * kSourceForgotten);
  EXPECT_EQ(workers.threshold(), good);
  for (int scrape = 0; scrape < 3; ++scrape) workers.work(Town{});
  EXPECT_EQ(workers.reason(), TuneReason::price) << "they came again";
}

TEST_F(Holding, KeepsItWhenPagesAreNonsense) {
  for (int scrape = 0; scrape < 20; ++scrape) tuner.failed(scrape % 2 == 0);
  EXPECT_EQ(workers.threshold(), good);
  EXPECT_EQ(tuner.counters().unreadable, 10u);
  EXPECT_EQ(tuner.counters().unreached, 10u);
}

TEST_F(Holding, KeepsItWhenNumbersCannotBe) {
  const double wrong[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 1e12};
  const VerifierReading verifier = workers.verifier();
  const DrafterReading drafter = workers.drafter();
  const uint64_t taken = tuner.counters().readings;
  for (const double value : wrong) {
    for (double VerifierReading::* number :
         {&VerifierReading::step_seconds, &VerifierReading::wait_seconds, &VerifierReading::rounds, &VerifierReading::tokens}) {
      workers.verifier() = verifier;
      workers.verifier().*number = value;
      workers.verifier().steps += 1;
      workers.read();
      EXPECT_EQ(workers.threshold(), good);
    }
    workers.verifier() = verifier;
    workers.verifier().kinds.front().by_survival[3].accepted = value;
    workers.read();
    workers.verifier() = verifier;
    workers.drafter().seconds = value;
    workers.read();
    workers.drafter() = drafter;
    EXPECT_EQ(workers.threshold(), good);
  }
  EXPECT_EQ(tuner.counters().readings, taken);
  EXPECT_GT(tuner.counters().refused, 0u);
}

TEST_F(Holding, ARefusedReadingIsTheReason) {
  workers.verifier().tokens = std::numeric_limits<double>::quiet_NaN();
  workers.read();
  EXPECT_EQ(workers.threshold(), good);
  EXPECT_EQ(workers.reason(), TuneReason::refused);
}

// Else the next reading would be compared with it, and be refused, too.
TEST_F(Holding, ARefusedReadingIsForgotten) {
  workers.work(Town{});
  const VerifierReading verifier = workers.verifier();
  workers.verifier().tokens = std::numeric_limits<double>::quiet_NaN();
  workers.read();
  workers.verifier() = verifier;
  const uint64_t refused = tuner.counters().refused;
  workers.work(Town{});
  EXPECT_EQ(tuner.counters().refused, refused);
  EXPECT_EQ(workers.reason(), TuneReason::price);
}

TEST_F(Holding, ACounterThatFallsIsARestartAndNoNews) {
  workers.restart();
  workers.read();
  EXPECT_EQ(tuner.counters().restarts, 1u);
  EXPECT_EQ(workers.threshold(), good);
  for (int scrape = 0; scrape < 5; ++scrape) workers.work(Town{});
  EXPECT_NEAR(workers.threshold(), good, 2 * kThresholdStep);
  EXPECT_EQ(workers.reason(), TuneReason::price);
}

// A drafter that says 1 of every node cannot be stopped by h: what the tuner can see is that its
// nodes do not pay.
TEST(Tuner, SaysThatABoasterDoesNotPay) {
  Tuner tuner(1);
  Workers workers(tuner);
  for (int scrape = 0; scrape < 20; ++scrape) workers.work(Town{.right = 0.1, .boasts = true});
  EXPECT_EQ(workers.reason(), TuneReason::no_node_pays);
  EXPECT_EQ(workers.threshold(), 0);
}

TEST(Tuner, TakesABoasterWhoIsRightAtItsWord) { EXPECT_GE(share_of_best({.right = 0.99, .boasts = true}, 0.1F), 0.97); }

// What it calls likely is unlikely, so all of its nodes count alike: all of them, or none.
TEST(Tuner, DoesNotBelieveANegatedHead) {
  for (const double right : {0.3, 0.9}) {
    Tuner tuner(0.5F);
    Workers workers(tuner);
    const Town town{.right = right, .says = 0.5, .negated = true};
    for (int scrape = 0; scrape < 20; ++scrape) workers.work(town);
    EXPECT_GE(town.goodput(workers.threshold()), 0.95 * town.goodput_at(0)) << right;
  }
}

// Trees that come too late are not verified, so nothing but their time can say that they are too
// deep.
TEST(Tuner, BoundsTheDepthByTheDeadline) {
  Tuner tuner(1, 0.020, 8);
  Workers workers(tuner);
  workers.verifier().kinds.front().answer_seconds = 0.026;  // ten of them are no drafting
  for (int scrape = 1; scrape <= 3; ++scrape) {
    workers.drafter() = {
        .kind = kSmall, .jobs = 10.0 * scrape, .seconds = 0.16 * scrape, .asks = 10.0 * scrape, .nodes = 80.0 * scrape};
    workers.drafter().by_levels[4] = {.jobs = 10.0 * scrape, .levels = 80.0 * scrape, .seconds = 0.16 * scrape};
    workers.verifier().steps += 10;
    workers.pass(0.25);
    workers.read();
  }
  const TunerSetting& setting = *tuner.find(kSmall);
  EXPECT_EQ(setting.depth_max, 4) << "levels of 2 ms, in nine tenths of 10 ms";
  EXPECT_EQ(setting.version, 1u);
  EXPECT_EQ(setting.reason, TuneReason::few_counts) << "of nodes";
}

// Seconds that a level costs, as the price of a node has it.
double level_seconds_in_price(double late) {
  Tuner tuner(1);
  Workers workers(tuner);
  for (int scrape = 0; scrape < 20; ++scrape) workers.work(Town{.late = late});
  const TunerSetting& setting = *tuner.find(kSmall);
  EXPECT_NEAR(setting.late_share(), late, 0.01);
  return setting.draft_price / setting.tokens_per_second;
}

// Else trees that are too deep to come in time would be taken for cheap, and stay too deep.
TEST(Tuner, CountsATreeThatCameTooLateAsIfStepsHadWaitedForIt) {
  EXPECT_NEAR(level_seconds_in_price(0) / 0.002, 1, 0.02);
  EXPECT_NEAR(level_seconds_in_price(0.5) / 0.002, 0.75, 0.02) << "all of one half, and half of the other";
  EXPECT_NEAR(level_seconds_in_price(1) / 0.002, 1, 0.02);
}

TEST(Tuner, DecidesNothingByAFewNodes) {
  Tuner tuner(0.6F);
  Workers workers(tuner);
  workers.work(Town{.says = 0.1, .root_seconds = 0.005});  // many steps, with nodes in one of sixteen
  workers.pass(2 * kScrapeTakes);                          // all workers of this scrape were heard
  EXPECT_EQ(workers.threshold(), 0.6F);
  EXPECT_EQ(workers.reason(), TuneReason::few_counts);
}

TEST(Tuner, IsBounded) {
  Tuner tuner(1);
  for (size_t i = 0; i < 2 * kTunerSourcesMax; ++i) {
    const DrafterReading drafter{.kind = {"method", std::to_string(i)}};
    tuner.read(std::to_string(i), drafter, 1);
  }
  EXPECT_EQ(tuner.settings().size(), kTunedKindsMax);
  EXPECT_GT(tuner.counters().overflow, kTunerSourcesMax);
  tuner.look(2 + kSourceForgotten);
  tuner.read("another", DrafterReading{.kind = {"method", "0"}}, 3 + kSourceForgotten);
  tuner.read("another", DrafterReading{.kind = {"method", "0"}, .jobs = 1, .seconds = 1}, 4 + kSourceForgotten);
  EXPECT_EQ(tuner.counters().readings, 1u) << "there is room again";
}

}  // namespace
}  // namespace slipstream
