// Runs an actor until a stop is requested, and then until it has drained. It logs one line at each
// of these moments: what is still going on, and what became of it.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "common/base/log.h"

namespace slipstream {

// Make the two log lines:
//   told_to_stop   from the counters when the stop was requested
//   stopped        from the counters at that time, and at the end of the drain
template <class Counters>
struct DrainLines {
  std::function<std::string(const Counters& now)> told_to_stop;
  std::function<std::string(const Counters& when_told, const Counters& now)> stopped;
};

// Loop is the ActorLoop that runs `actor`. `plan` is what ActorLoop::run() takes; this function
// calls its `on_stop` after the first line. Returns the part of the grace that was not used.
template <class Loop, class A, class Counters>
std::chrono::milliseconds run_until_drained(Loop& loop, const A& actor, const std::stop_token& stop,
                                            typename Loop::DrainPlan plan, const DrainLines<Counters>& lines) {
  Counters when_told;
  plan.on_stop = [&, also = std::move(plan.on_stop)](const A& a) {
    log_info("{}", lines.told_to_stop(when_told = a.counters()));
    also(a);
  };
  const auto left = loop.run(stop, std::move(plan));
  log_info("{}", lines.stopped(when_told, actor.counters()));
  return left;
}

}  // namespace slipstream
