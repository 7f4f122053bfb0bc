#pragma once

#include "common/http/server.h"
#include "common/metrics/exposition.h"

namespace slipstream {

// What a process's HTTP side did, added to one page of /metrics.
void add_server_metrics(const http::ServerCounters& counters, Exposition& page);

}  // namespace slipstream
