// Adds the metrics of a process's HTTP server to a page of /metrics.
#pragma once

#include "common/http/server.h"
#include "common/metrics/exposition.h"

namespace slipstream {

// The slipstream_http_... metrics, from http::Server::counters().
void add_server_metrics(const http::ServerCounters& counters, Exposition& page);

}  // namespace slipstream
