// The router's log lines about its drain.
#pragma once

#include <chrono>
#include <string>

#include "services/router/counters.h"

namespace slipstream {

// The router is told to stop: how many answers go on, and for how long.
std::string told_to_stop(uint64_t answers, std::chrono::milliseconds grace);
// The router stops: what became of the answers that ended since. told: the counters when it was
// told to stop.
std::string stopped(const RouterCounters& told, const RouterCounters& now);

}  // namespace slipstream
