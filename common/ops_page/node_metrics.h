#pragma once

#include "common/metrics/exposition.h"
#include "common/runtime/node.h"

namespace slipstream {

// What a process's loop and sockets did, added to one page of /metrics.
void add_node_metrics(const NodeCounters& counters, Exposition& page);

}  // namespace slipstream
