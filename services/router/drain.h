// What the router's log says when it is told to stop, and when it has.
#pragma once

#include <chrono>
#include <string>

#include "services/router/counters.h"

namespace slipstream {

// Before it says so to anybody: the answers that go on.
std::string told_to_stop(const RouterCounters& now, std::chrono::milliseconds grace);
// What became of them. told: as then.
std::string stopped(const RouterCounters& told, const RouterCounters& now);

}  // namespace slipstream
