// A day's requests under a policy: pods that are scaled as the chart says, or that are fixed in
// number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/day/chart.h"
#include "tests/sim/day/fleet.h"

namespace slipstream::sim {

struct DayPolicy {
  std::string name;
  int verifiers = 2, drafters = 1;  // at first, and always where nothing scales them
  std::optional<Scaling> scale_verifiers = {}, scale_drafters = {};
};

struct Moment {  // what is there at some time of the day
  double hour = 0;
  double requests_per_second = 0, accepted_per_second = 0;  // since the moment before
  int live = 0;                                             // requests that were not answered yet
  int verifiers = 0, drafters = 0;                          // whose process runs
};

struct DayReport {
  std::string policy;
  std::vector<Answer> answers;
  std::vector<Moment> moments;
  std::array<double, 3> pod_hours{};  // [Kind]
  std::array<int, 3> changes{};       // [Kind] how often the wanted number changed
  double drafted = 0;                 // share of the tokens that were drafted
  uint64_t happenings = 0;
};

inline constexpr Time kMomentEvery = std::chrono::minutes(2);
inline constexpr Time kPodStarts[] = {std::chrono::seconds(20), std::chrono::seconds(60), std::chrono::seconds(20)};  // [Kind]

FleetConfig day_fleet();
DayReport live_day(const DayLoad& load, const DayPolicy& policy, uint64_t seed);

}  // namespace slipstream::sim
