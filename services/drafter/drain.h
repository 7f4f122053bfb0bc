// The drafter's log lines when it is told to stop and when it has stopped. A drafter waits for
// nothing when it stops: the output of its sequences does not depend on it.
#pragma once

#include <string>

#include "services/drafter/counters.h"

namespace slipstream {

// now: the counters before the actor was told. It frees its sequences when it is told.
std::string told_to_stop(const DrafterCounters& now);
// now: the counters at the end.
std::string stopped(const DrafterCounters& now);

}  // namespace slipstream
