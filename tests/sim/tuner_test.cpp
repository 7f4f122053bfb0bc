// The router's tuner among the product's own actors: it reads the text that the workers export.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kFirst = milliseconds(1500);                 // request
constexpr Time kSettled = kFirst + 20 * milliseconds(250);  // twenty scrapes later
constexpr int32_t kTokens = 100;

struct Town {
  double noise = 0.3;  // of the drafter's model
  Time level = Time(400);
  int streams = 2;
};

// Each stream asks its next request when the one before is answered.
Scenario scenario(const Town& town, bool tunes, float first) {
  Scenario s{.seed = 1};
  s.verifiers = {{.cache_blocks = 256, .step_rows_max = 256, .knows_costs = true}};
  s.drafters = {{.noise = town.noise, .level = town.level}};
  s.begins.assign(3, Time(0));
  s.wait_share = 0.05;
  s.verifier_wait_ms = 10'000;
  s.tunes = tunes;
  s.first_threshold = first;
  const auto streams = static_cast<size_t>(town.streams);
  for (size_t request = 0; request < 40 * streams; ++request) {
    s.asks.push_back({.when = kFirst,
                      .prompt = {1, 2, static_cast<TokenId>(3 + request % 20)},
                      .sampling = {.temperature = 0},
                      .output_max = kTokens});
    if (request >= streams) s.asks.back().after = request - streams;
  }
  return s;
}

// Tokens a second of the requests that end after the twentieth scrape.
double goodput(const Town& town, bool tunes, float first) {
  World world(scenario(town, tunes, first), false);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  Time last{};
  double tokens = 0;
  for (const Client& client : world.clients()) {
    if (client.heard() < kSettled) continue;
    tokens += static_cast<double>(client.tokens());
    last = std::max(last, client.heard());
  }
  return tokens / (static_cast<double>((last - kSettled).count()) * 1e-6);
}

TEST(SimulatedTuner, ReachesTheBestFixedThresholdFromFarAway) {
  for (const Town& town : {Town{}, Town{.level = Time(50)}, Town{.noise = 0.6, .level = Time(800)}, Town{.streams = 8}}) {
    double best = 0;
    std::string table;
    for (const float h : {0.05F, 0.12F, 0.2F, 0.3F, 0.36F, 0.42F, 0.48F, 0.54F, 1.0F}) {
      const double speed = goodput(town, false, h);
      table += fmt::format(" {:.2f}:{:.0f}", h, speed);
      best = std::max(best, speed);
    }
    for (const float first : {0.1F, 0.99F}) {
      const double tuned = goodput(town, true, first);
      fmt::print("noise {}, level {} us, {} streams, from {}: {:.0f}, {:.3f} of the best of{}\n", town.noise,
                 town.level.count(), town.streams, first, tuned, tuned / best, table);
      EXPECT_GE(tuned, 0.97 * best) << "from " << first;
    }
  }
}

}  // namespace
}  // namespace slipstream::sim
