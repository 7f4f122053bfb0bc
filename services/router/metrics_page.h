// The router's part of /metrics.
#pragma once

#include "common/metrics/exposition.h"
#include "services/router/counters.h"
#include "services/router/http_api/error_counts.h"

namespace slipstream {

// The router's own facts, added to one page of /metrics.
void add_router_metrics(const RouterCounters& counters, Exposition& page);
// The errors that its HTTP side has answered with, by code.
void add_error_metrics(const ErrorCountsByCode& counts, Exposition& page);

}  // namespace slipstream
