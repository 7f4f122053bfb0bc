#pragma once

#include "common/metrics/exposition.h"
#include "services/router/counters.h"

namespace slipstream {

// The router's own facts, added to one page of /metrics.
void add_router_metrics(const RouterCounters& counters, Exposition& page);

}  // namespace slipstream
