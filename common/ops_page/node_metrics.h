// Adds the metrics of a process's event loop and sockets to a page of /metrics.
#pragma once

#include "common/metrics/exposition.h"
#include "common/runtime/node.h"

namespace slipstream {

// The slipstream_node_... metrics, from Node::node_counters().
void add_node_metrics(const NodeCounters& counters, Exposition& page);

}  // namespace slipstream
