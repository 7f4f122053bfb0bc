#include "tests/sim/day/load.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "tests/sim/scenario.h"

namespace slipstream::sim {
namespace {

constexpr double kBusiestHour = 15;
constexpr double kStep = 0.05;  // seconds; at most one request comes in each

bool bursts(const DayLoad& load, double hour) {
  const double lasts = kBurstSeconds / 3600 * 24 / load.hours;  // in hours of the day
  return std::ranges::any_of(kBurstHours, [&](double begins) { return hour >= begins && hour < begins + lasts; });
}

}  // namespace

double requests_per_second(const DayLoad& load, double hour) {
  const double swing = (1 + std::cos((hour - kBusiestHour) / 12 * std::numbers::pi)) / 2;
  return load.peak_per_second * (load.night_share + (1 - load.night_share) * swing * swing);
}

double hard_share(double hour) { return hour < 5 || hour >= 22 ? 0.98 : 0.25; }

std::vector<DayRequest> draw_day(const DayLoad& load, uint64_t seed) {
  RandomSource random(seed, "day");
  std::vector<DayRequest> requests;
  const auto steps = static_cast<int64_t>(load.hours * 3600 / kStep);
  for (int64_t step = 0; step < steps; ++step) {
    const double seconds = static_cast<double>(step) * kStep, hour = seconds / 3600 * 24 / load.hours;
    const double rate = requests_per_second(load, hour) * (bursts(load, hour) ? kBurst : 1);
    if (!random.chance(rate * kStep)) continue;
    DayRequest request{.when = Time(static_cast<int64_t>(seconds * 1e6)), .prompt = {}};
    request.seed = (random.word() & ~uint64_t{1}) | (random.chance(hard_share(hour)) ? 1 : 0);
    request.prompt.resize(static_cast<size_t>(random.between(8, 48)));
    for (int32_t& token : request.prompt) token = static_cast<int32_t>(random.between(1, kToyVocabulary - 1));
    request.tokens = static_cast<int32_t>(random.between(16, kToyContext - 48));
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace slipstream::sim
