// The requests of a day: how many come, and how well they can be drafted, by the hour. A function
// of its seed.
#pragma once

#include <vector>

#include "tests/sim/random_source.h"

namespace slipstream::sim {

struct DayLoad {
  double hours = 24;           // that the day takes in virtual time; fewer: all changes come faster
  double peak_per_second = 6;  // requests, at the busiest time without a burst
  double night_share = 0.1;    // of that, at the quietest
};

struct DayRequest {
  Time when{};
  uint64_t seed = 0;  // odd: no drafter guesses it (DrafterTraits::odd_noise)
  std::vector<int32_t> prompt;
  int32_t tokens = 0;  // of the answer
};

inline constexpr double kBurst = 3;                               // as many requests as without it
inline constexpr double kBurstSeconds = 300;                      // of virtual time
inline constexpr double kBurstHours[] = {3.0, 9.5, 13.0, 20.25};  // when bursts begin

// Of a day of 24 hours, whatever virtual time it takes. hour: 0 to 24.
double requests_per_second(const DayLoad& load, double hour);  // without bursts
// Share of the requests whose drafts are rejected: few by day, nearly all of the night's batches.
double hard_share(double hour);

std::vector<DayRequest> draw_day(const DayLoad& load, uint64_t seed);  // by time

}  // namespace slipstream::sim
