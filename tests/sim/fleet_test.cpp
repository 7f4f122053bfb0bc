// A large deployment: 20 verifiers and 100 drafters. Every sequence finds drafters, in spite of the
// limits on links and on drafters of a sequence, and whoever comes or goes.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kVerifiers = 20, kDrafters = 100, kRequests = 400;
constexpr int32_t kTokens = 100;

// Requests arrive over two seconds, so that some begin while others end.
Scenario fleet() {
  Scenario s{.seed = 1};
  s.routers = 2;
  s.verifiers.assign(kVerifiers, {.cache_blocks = 128, .step_rows_max = 256});
  s.drafters.assign(kDrafters, {});
  s.begins.assign(2 + kVerifiers + kDrafters, Time(0));
  s.wait_share = 0.05;
  s.verifier_wait_ms = 10'000;
  for (int request = 0; request < kRequests; ++request) {
    s.asks.push_back({.when = milliseconds(1500) + request * milliseconds(5),
                      .router = request % 2,
                      .prompt = {1, 2, static_cast<TokenId>(3 + request % 8)},
                      .sampling = {.temperature = 0},
                      .output_max = kTokens});
  }
  return s;
}

// How many answers have fewer drafted tokens than this.
long poorer_than(const World& world, size_t drafted) {
  return std::ranges::count_if(world.clients(), [&](const Client& client) { return client.drafted() < drafted; });
}

TEST(Fleet, NobodyDecodesPlainlyByAccident) {
  World world(fleet(), false);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_EQ(verdict.tallies.answered, kRequests);
  EXPECT_EQ(poorer_than(world, kTokens / 4), 0) << "each drafter knows every token";
}

TEST(Fleet, AUselessHalfOfTheDraftersTakesNobodysDraftsAway) {
  Scenario s = fleet();
  for (size_t drafter = 0; drafter < s.drafters.size(); drafter += 2) s.drafters[drafter] = {.noise = 1, .model = "poor"};
  World world(s, false);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_EQ(poorer_than(world, kTokens / 4), 0);
}

TEST(Fleet, TheLossOfHalfOfTheDraftersLeavesNobodyWithout) {
  Scenario s = fleet();
  for (int drafter = 0; drafter < kDrafters; drafter += 2) {
    s.faults.push_back({.what = Fault::What::kill,
                        .when = milliseconds(2000) + drafter * milliseconds(2),
                        .lasts = std::chrono::seconds(5),
                        .whom = {Kind::drafter, drafter},
                        .from = {}});
  }
  World world(s, false);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_EQ(verdict.tallies.answered, kRequests);
  EXPECT_EQ(poorer_than(world, kTokens / 4), 0);
}

}  // namespace
}  // namespace slipstream::sim
