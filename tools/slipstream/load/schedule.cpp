#include "tools/slipstream/load/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/check.h"

namespace slipstream::command::load {

Schedule Schedule::of(const OpenLoop& loop) {
  CHECK(loop.rate_per_s >= kRateMin && loop.rate_per_s <= kRateMax, "{} requests a second", loop.rate_per_s);
  CHECK(loop.burst >= 1 && loop.burst <= kBurstMax, "bursts of {}", loop.burst);
  Schedule schedule;
  schedule.loop_ = loop;
  if (loop.process != ArrivalProcess::bursts) schedule.loop_.burst = 1;
  schedule.random_.seed(loop.seed);
  return schedule;
}

Schedule Schedule::replay(std::vector<Offset> times) {
  CHECK(std::ranges::is_sorted(times), "the times of a trace are not in order");
  Schedule schedule;
  schedule.times_ = std::move(times);
  return schedule;
}

// The standard library's distributions differ between implementations; 53 bits over 2^53 do not.
double Schedule::uniform() { return static_cast<double>((random_() >> 11U) + 1) * 0x1p-53; }

double Schedule::gap_s() { return -std::log(uniform()) * loop_.burst / loop_.rate_per_s; }

std::optional<Offset> Schedule::next() {
  const uint64_t number = given_++;
  if (times_) return number < times_->size() ? std::optional((*times_)[number]) : std::nullopt;
  if (number % static_cast<uint64_t>(loop_.burst) == 0) {
    // Even gaps are multiplied and not added up, so that rounding does not add up either.
    at_s_ = loop_.process == ArrivalProcess::even ? static_cast<double>(number) / loop_.rate_per_s : at_s_ + gap_s();
  }
  return std::chrono::duration_cast<Offset>(std::chrono::duration<double>(at_s_));
}

}  // namespace slipstream::command::load
