// The router's counters under the names that dashboards made for vLLM ask for (`--metrics-compat
// vllm`). Only what is counted here is told: docs/use/METRICS.md has the table. The names have a
// colon, to which promtool objects, so they are off by default.
#pragma once

#include <string_view>

#include "common/metrics/exposition.h"
#include "services/router/counters.h"

namespace slipstream {

// model: the value of the label model_name.
void add_vllm_metrics(const RouterCounters& counters, std::string_view model, Exposition& page);

}  // namespace slipstream
