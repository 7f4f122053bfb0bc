// When the requests of an open loop arrive, whatever the server does: at random, evenly, in bursts,
// or as a trace says. Pure: equal seeds give equal times on every machine. Not thread-safe.
//
//   Schedule schedule = Schedule::of({.process = ArrivalProcess::poisson, .rate_per_s = 5, .seed = 1});
//   while (const auto at = schedule.next()) ...
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace slipstream::command::load {

using Offset = std::chrono::nanoseconds;  // since the run began

enum class ArrivalProcess {
  poisson,  // independent users: exponential gaps
  even,     // equal gaps
  bursts,   // groups of requests at one instant, with exponential gaps between groups
};

inline constexpr double kRateMin = 0.001, kRateMax = 100'000;  // requests a second
inline constexpr int kBurstMax = 10'000;                       // requests at one instant

struct OpenLoop {
  ArrivalProcess process = ArrivalProcess::poisson;
  double rate_per_s = 1;  // on average, of single requests in all three; kRateMin to kRateMax
  int burst = 1;          // bursts: requests of a group; 1 to kBurstMax
  uint64_t seed = 0;
};

class Schedule {
 public:
  static Schedule of(const OpenLoop& loop);           // never ends
  static Schedule replay(std::vector<Offset> times);  // REQUIRES: sorted

  // The time of the next request, at least that of the one before; nullopt: the trace has ended.
  std::optional<Offset> next();

 private:
  double uniform();  // in (0, 1]
  double gap_s();    // from one group of requests to the next, at random

  OpenLoop loop_;
  std::mt19937_64 random_;
  std::optional<std::vector<Offset>> times_;  // of a trace
  uint64_t given_ = 0;                        // times so far
  double at_s_ = 0;                           // of the newest group
};

}  // namespace slipstream::command::load
