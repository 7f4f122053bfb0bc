// More requests than a verifier carries. The router refuses those that would wait too long, and the
// others begin in time, as many as if no more had come.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/sim/random_source.h"
#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int32_t kTokens = 60;
constexpr uint32_t kQueueWaitMs = 1000;
constexpr Time kBegins = seconds(1), kLasts = seconds(20);

// One verifier, slowed down, and requests at random times, so many a second.
Scenario arrivals(double each_second) {
  Scenario s{.seed = 1};
  s.verifiers = {{.cache_blocks = 512, .step_rows_max = 256, .knows_costs = true}};
  s.begins.assign(2, Time(0));
  s.verifier_wait_ms = 10'000;
  s.queue_wait_ms = kQueueWaitMs;
  s.waves = 2;  // the world heals after the last request
  s.faults = {{.what = Fault::What::slow,
               .when = milliseconds(900),
               .lasts = kLasts + seconds(5),
               .whom = {Kind::verifier, 0},
               .from = {},
               .factor = 10}};
  RandomSource random(1, "arrivals");
  for (double at = 0; at < std::chrono::duration<double>(kLasts).count();) {
    s.asks.push_back({.when = kBegins + Time(static_cast<int64_t>(at * 1e6)),
                      .prompt = {1, 2, 3},
                      .sampling = {.temperature = 0},
                      .output_max = static_cast<int32_t>(random.between(1, 2 * kTokens - 1))});
    at -= std::log(1 - random.share()) / each_second;
  }
  return s;
}

// Answers that began within a limit after their request.
long begun_within(const World& world, Time limit) {
  return std::ranges::count_if(world.clients(), [&](const Client& one) { return one.first_token().value_or(limit) < limit; });
}

TEST(Overload, KeepsTheAnswersInTimeThatTheVerifierCanGive) {
  constexpr double kCapacity = 16;  // a second, about: each of 64 places is taken for 60 steps of 60 ms
  constexpr Time kInTime = milliseconds(2 * kQueueWaitMs);
  World usual(arrivals(kCapacity), false), overloaded(arrivals(5 * kCapacity), false);
  EXPECT_EQ(usual.live().broken, std::nullopt);
  const Verdict verdict = overloaded.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.tallies.failed, verdict.tallies.answered) << "four of five had to be refused";
  const long good = begun_within(overloaded, kInTime);
  EXPECT_GE(good, 0.9 * static_cast<double>(begun_within(usual, kInTime)));
  EXPECT_GE(good, 0.9 * static_cast<double>(verdict.tallies.answered));
}

TEST(Overload, ServesWhatIsUrgentWhileOthersAreRefused) {
  Scenario s = arrivals(80);
  for (size_t i = 0; i < s.asks.size(); i += 20) s.asks[i].priority = -100;
  World world(s, false);
  EXPECT_EQ(world.live().broken, std::nullopt);
  for (size_t i = 0; i < world.clients().size(); i += 20) {
    EXPECT_EQ(world.clients()[i].state(), Client::State::answered) << world.clients()[i].end();
  }
}

}  // namespace
}  // namespace slipstream::sim
