#include "tests/sim/tuning/stages.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"

namespace slipstream::sim {
namespace {

constexpr int32_t kAnswerTokens = 100;
constexpr int kRequestsOfAStream = 50;  // of a stage, at most: no stream of these models has as many answers in its time
constexpr StepSpeed kStep{.least = Time(19'000), .most = Time(21'000), .row = Time(300)};
constexpr double kNoise = 0.05, kHardNoise = 0.5;  // of the drafters' model; of requests with an odd seed
constexpr Time kLevel(400);                        // of a draft
constexpr Time kDeadline(200'000);                 // of a tree

Time begin_of(size_t stage) { return kStagesBegin + static_cast<int>(stage) * kStageTakes; }

Climate climate(Time distance) {
  Weather weather;
  weather.usual_least += distance;
  weather.usual_most += distance;
  return {weather, weather, weather};
}

// The streams of one stage. Prompts repeat, so that their prefixes are found again.
void add_asks(Scenario& s, const FleetSize& fleet, size_t number) {
  const Stage& stage = kStages[number];
  const int streams = stage.streams * fleet.verifiers;
  const auto first = s.asks.size();
  for (int request = 0; request < streams * kRequestsOfAStream; ++request) {
    s.asks.push_back({.when = begin_of(number),
                      .router = request % fleet.routers,
                      .prompt = {1, 2, static_cast<TokenId>(3 + request % 20)},
                      .sampling = {.temperature = 0},
                      .seed = stage.hard ? 1U : 0U,  // an odd one: see kHardNoise
                      .output_max = kAnswerTokens});
    if (request < streams) continue;
    s.asks.back().after = first + static_cast<size_t>(request - streams);
    s.asks.back().latest = begin_of(number + 1) - std::chrono::seconds(1);
  }
}

Scenario scenario(const FleetSize& fleet, const Policy& policy) {
  Scenario s{.seed = 1};
  s.routers = fleet.routers;
  s.verifiers.assign(static_cast<size_t>(fleet.verifiers),
                     {.cache_blocks = 512, .step_rows_max = 256, .knows_costs = true, .speed = kStep});
  const int drafters = policy.drafts ? fleet.drafters : 0;
  s.drafters.assign(static_cast<size_t>(drafters), {.noise = kNoise, .odd_noise = kHardNoise, .level = kLevel});
  s.begins.assign(static_cast<size_t>(fleet.routers + fleet.verifiers + drafters), Time(0));
  s.wait_share = 0.05;
  s.verifier_wait_ms = 10'000;
  s.tunes = policy.tunes;
  s.deadline = kDeadline;
  s.first_threshold = policy.threshold;
  s.waves = 1 + static_cast<int>(std::size(kStages) * kStageTakes / kWaveEvery) + 1;
  for (size_t number = 0; number < std::size(kStages); ++number) {
    const Stage& stage = kStages[number];
    s.later_climates[begin_of(number)] = climate(stage.distance);
    for (int drafter = 0; stage.slow > 1 && drafter < drafters; ++drafter) {
      s.faults.push_back({.what = Fault::What::slow,
                          .when = begin_of(number),
                          .lasts = kStageTakes,
                          .whom = {Kind::drafter, drafter},
                          .from = {},
                          .factor = stage.slow});
    }
    add_asks(s, fleet, number);
  }
  return s;
}

double seconds(Time time) { return std::chrono::duration<double>(time).count(); }

// Tokens that came in [from, to), a second.
double speed(const World& world, Time from, Time to) {
  size_t tokens = 0;
  for (const Client& client : world.clients()) {
    const auto& times = client.token_times();
    tokens += static_cast<size_t>(std::ranges::lower_bound(times, to) - std::ranges::lower_bound(times, from));
  }
  return static_cast<double>(tokens) / seconds(to - from);
}

}  // namespace

StagesReport live_stages(const FleetSize& fleet, const Policy& policy) {
  World world(scenario(fleet, policy), false);
  const Verdict verdict = world.live();
  CHECK(!verdict.broken, "{}", *verdict.broken);
  StagesReport report{.tokens = {}, .settled = {}, .settings = world.settings()};
  for (size_t stage = 0; stage < std::size(kStages); ++stage) {
    // The last second of a stage begins no request: it is left out.
    const Time end = begin_of(stage + 1) - std::chrono::seconds(1);
    report.settled.push_back(speed(world, begin_of(stage) + kSettles, end));
    for (Time at = begin_of(stage); at < end; at += kWindow) report.tokens.push_back(speed(world, at, at + kWindow));
  }
  return report;
}

}  // namespace slipstream::sim
