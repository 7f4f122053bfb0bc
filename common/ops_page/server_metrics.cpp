#include "common/ops_page/server_metrics.h"

namespace slipstream {

void add_server_metrics(const http::ServerCounters& counters, Exposition& page) {
  const auto d = [](uint64_t count) { return static_cast<double>(count); };
  page.gauge(metric::kHttpConnections, d(counters.connections));
  page.counter(metric::kHttpRequests, d(counters.requests));
  page.counter(metric::kHttpFaults, d(counters.connections_refused), {{"kind", "connection_refused"}});
  page.counter(metric::kHttpFaults, d(counters.bad_requests), {{"kind", "bad_request"}});
  page.counter(metric::kHttpFaults, d(counters.clients_gone), {{"kind", "client_gone"}});
  page.counter(metric::kHttpFaults, d(counters.slow_readers), {{"kind", "slow_reader"}});
}

}  // namespace slipstream
