// What the drafter's log says when it is told to stop, and when it has.
#pragma once

#include <string>

#include "services/drafter/counters.h"

namespace slipstream {

// Before it says so to anybody. It waits for nothing: no word depends on it.
std::string told_to_stop(const DrafterCounters& now);
std::string stopped(const DrafterCounters& now);

}  // namespace slipstream
