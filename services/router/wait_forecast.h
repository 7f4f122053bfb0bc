// Predicts how long a request will wait for a place at a verifier, from how fast places became free
// lately. Pure.
//
//   forecast.observe({.all = 64, .full = true}, now);   // after every event
//   forecast.freed();                                   // an answer has ended
//   forecast.expected(12);                              // 12 wait before it
//
// While no verifier has room, a request with `ahead` others before it starts when ahead + 1 places
// have become free. The rate at which they do is measured only in such time, because with room to
// spare answers end as fast as requests come, which says nothing of how fast they could:
//
//   rate = freed / place-seconds x places        expected = (ahead + 1) / rate
//
// Both sums decay with kForecastMemory of full time, so that the forecast follows what requests
// ask for and outlives a quiet hour. Counting by place lets it follow verifiers that come and go at
// once. One place counts as freed from the start: of a first rush nothing is known, so the forecast
// begins with no wait and grows with the time in which no answer ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr std::chrono::seconds kForecastMemory{10};

// Of the verifiers that take work.
struct Places {
  int32_t all = 0;    // sequences that they may hold together; 0: no verifier is there
  bool full = false;  // none of them has room
};

class WaitForecast {
 public:
  void observe(Places places, Time now);  // the time since the last call counts as it was observed then
  void freed() { freed_ += places_.full && places_.all > 0 ? 1 : 0; }

  // Nullopt: no verifier is there, so that nothing can be said. 0: one has room.
  std::optional<Time> expected(size_t ahead) const;

 private:
  Places places_;
  Time observed_{};
  double freed_ = 1;  // places, decayed
  double place_seconds_ = 0;
};

}  // namespace slipstream
