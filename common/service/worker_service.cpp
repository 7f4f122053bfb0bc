#include "common/service/worker_service.h"

#include <unistd.h>

#include <algorithm>

#include "common/base/host_addresses.h"
#include "common/config/port_file.h"
#include "common/metrics/build_info.h"
#include "common/runtime/incarnation.h"
#include "common/service/trace_exporter.h"

namespace slipstream {

WorkerServiceOptions service_options(std::string name, const WorkerOptions& options) {
  return {.name = std::move(name),
          .routers = options.router,
          .key = options.key,
          .peers = options.peers,
          .metrics = options.metrics,
          .advertise_metrics = options.advertise_metrics,
          .job_stuck = std::chrono::milliseconds(options.job_stuck_ms),
          .port_file = options.port_file};
}

WorkerService::WorkerService(WorkerServiceOptions options, std::vector<std::string> names, std::optional<Keys> keys,
                             Endpoint metrics)
    : options_(std::move(options)),
      names_(std::move(names)),
      keys_(std::move(keys)),
      metrics_(std::move(metrics)),
      self_(random_incarnation()) {}

Result<WorkerService> WorkerService::open(WorkerServiceOptions options) {
  TRY(auto keys, open_keys(options.key, options.peers, options.name));
  // The names of the routers' keys come from the enrolled ones, so the keys are opened first.
  TRY(options.routers, with_router_keys(std::move(options.routers), keys));
  TRY(Endpoint metrics, parse_endpoint(options.metrics));
  if (!options.bind.empty()) {
    TRY(const Endpoint bind, parse_endpoint(options.bind));
    options.bind = bind.tcp();
  }
  const auto names = std::ranges::stable_partition(options.routers, [](const auto& router) { return !is_name(router); });
  std::vector<std::string> named(names.begin(), names.end());
  options.routers.erase(names.begin(), names.end());
  return WorkerService(std::move(options), std::move(named), std::move(keys), std::move(metrics));
}

void WorkerService::add_facts(const std::string& numerics_id, Exposition& page) const {
  add_build_info(options_.name, numerics_id, page);
  add_trace_metrics(page);
}

Result<http::Server> WorkerService::serve_page(WorkerPage page) const {
  page.name = "slipstream-" + options_.name;
  return serve_worker_page(metrics_.host, metrics_.port, std::move(page));
}

Result<std::unique_ptr<ZmqTransport>> WorkerService::open_transport() const {
  const auto bind = options_.bind.empty() ? std::nullopt : std::optional(options_.bind);
  return ZmqTransport::open({.self = self_, .bind = bind, .keys = keys_, .admits = options_.admits});
}

// 0.0.0.0 is left to routers on this machine, which know by which name their clients call it.
// Others cannot tell whose addresses it stands for.
std::string WorkerService::told_page(uint16_t port) const {
  if (!options_.advertise_metrics.empty()) return options_.advertise_metrics;
  const Endpoint bound{metrics_.host, port};
  if (!bound.every_address()) return bound.address();
  for (const std::string& router : options_.routers) {
    const auto at = parse_endpoint(split_key(router).endpoint);
    if (at && !at->loopback()) return Endpoint{own_address(at->host), port}.address();
  }
  return names_.empty() ? bound.address() : Endpoint{own_address(""), port}.address();
}

WorkerPlace WorkerService::place(const http::Server& server, const ZmqTransport& transport) const {
  WorkerPlace at;
  at.page = Endpoint{metrics_.host, server.port()}.address();
  at.process = {.incarnation = self_,
                .pid = static_cast<uint32_t>(getpid()),
                .metrics_endpoint = "http://" + told_page(server.port()) + "/metrics",
                .routers = options_.routers};
  at.bound = transport.bound_endpoint();
  const std::string& told = options_.advertise.empty() ? at.bound : options_.advertise;
  at.reached_at = keys_ ? keys_->named(told) : told;
  return at;
}

Result<void> WorkerService::write_ports(const WorkerPlace& at) const {
  if (at.bound.empty()) return write_port_file(options_.port_file, {{"metrics", at.page}});
  return write_port_file(options_.port_file, {{"bind", at.bound}, {"metrics", at.page}});
}

}  // namespace slipstream
