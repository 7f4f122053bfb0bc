// Adds the metrics of a process's event loop and sockets to a page of /metrics.
#pragma once

#include "common/metrics/exposition.h"
#include "common/runtime/actor_loop.h"

namespace slipstream {

// The slipstream_node_... metrics, from ActorLoop::loop_counters() and standstill().
void add_loop_metrics(const LoopCounters& counters, const Standstill& still, Exposition& page);

}  // namespace slipstream
