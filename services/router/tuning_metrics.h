// What the router's tuner has decided and why, on the router's page of /metrics.
#pragma once

#include "common/metrics/exposition.h"
#include "services/router/counters.h"

namespace slipstream {

void add_tuning_metrics(const RouterCounters& counters, Exposition& page);

}  // namespace slipstream
