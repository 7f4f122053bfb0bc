#pragma once

#include "common/metrics/exposition.h"
#include "services/drafter/counters.h"

namespace slipstream {

// The drafter's own facts, added to one page of /metrics.
void add_drafter_metrics(const DrafterCounters& counters, Exposition& page);

}  // namespace slipstream
