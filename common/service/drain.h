// Runs a node until it is told to stop, and then until it has drained. The log says what is left at
// the first moment, and what became of it at the second.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "common/base/log.h"

namespace slipstream {

template <class Counters>
struct DrainWords {  // a log line each
  std::function<std::string(const Counters& now)> told_to_stop;
  std::function<std::string(const Counters& when_told, const Counters& now)> stopped;
};

// Loop: a Node of `actor`. farewell: as Node::run() takes it, without `told`. Returns what is left
// of the grace.
template <class Loop, class A, class Counters>
std::chrono::milliseconds run_until_drained(Loop& loop, const A& actor, const std::stop_token& stop,
                                            typename Loop::DrainPlan drain, const DrainWords<Counters>& words) {
  Counters when_told;
  drain.told = [&](const A& a) { log_info("{}", words.told_to_stop(when_told = a.counters())); };
  const auto left = loop.run(stop, std::move(drain));
  log_info("{}", words.stopped(when_told, actor.counters()));
  return left;
}

}  // namespace slipstream
