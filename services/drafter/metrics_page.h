// The drafter's part of the metrics page.
#pragma once

#include "common/metrics/exposition.h"
#include "services/drafter/counters.h"

namespace slipstream {

// Adds the drafter's counters to a page of /metrics, under the names of metrics/names.h.
void add_drafter_metrics(const DrafterCounters& counters, Exposition& page);

}  // namespace slipstream
