// A trace in which what decides the best threshold changes: load, prompts, drafters and distance.
// The same requests run under a fixed threshold, under the router's tuner, and without drafters.
// The workers are the product's own, with toy models, and the tuner reads the text that they
// export.
#pragma once

#include <string_view>
#include <vector>

#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

namespace slipstream::sim {

struct Stage {
  std::string_view name;
  int streams = 1;    // of each verifier; each asks its next request when the one before has ended
  bool hard = false;  // prompts that drafters guess badly
  double slow = 1;    // factor on what the drafters' jobs take
  Time distance{};    // added to each message
};
inline constexpr Stage kStages[] = {
    {"one stream, easy prompts", 1, false, 1, Time(0)},
    {"eight streams", 8, false, 1, Time(0)},
    {"drafters 8 times as slow", 2, false, 8, Time(0)},
    {"hard prompts", 2, true, 1, Time(0)},
    {"both", 2, true, 8, Time(0)},
    {"0.5 ms away", 2, false, 1, Time(500)},
    {"2 ms away", 1, false, 1, Time(2000)},
    {"as at first", 1, false, 1, Time(0)},
};
inline constexpr Time kStageTakes = std::chrono::seconds(10);
inline constexpr Time kSettles = 20 * kScrapeEvery;  // of a stage; what comes later is what the tuner has found

struct FleetSize {
  int verifiers = 1, drafters = 5, routers = 1;
};

struct Policy {
  bool drafts = true;  // false: there are no drafters
  bool tunes = false;
  float threshold = 1;  // h, or the first one
};

struct StagesReport {
  std::vector<double> tokens;   // [windows] tokens a second of the whole fleet
  std::vector<double> settled;  // [stages] the same, behind kSettles
  std::vector<std::pair<Time, TunerSetting>> settings;
};
inline constexpr Time kWindow = std::chrono::seconds(1);
inline constexpr Time kStagesBegin = std::chrono::seconds(2);  // the first request

// Fails (CHECK) if an oracle of the world is violated.
StagesReport live_stages(const FleetSize& fleet, const Policy& policy);

}  // namespace slipstream::sim
