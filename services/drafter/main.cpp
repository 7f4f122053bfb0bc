// slipstream-drafter: guesses ahead for every sequence of its verifiers. Constructs, connects, runs.
#include <atomic>
#include <utility>

#include "common/base/log.h"
#include "common/config/drafter_config.h"
#include "common/config/endpoint.h"
#include "common/config/port_file.h"
#include "common/metrics/build_info.h"
#include "common/metrics/worker_page.h"
#include "common/runtime/incarnation.h"
#include "common/runtime/node.h"
#include "common/runtime/node_metrics.h"
#include "common/runtime/stop_signal.h"
#include "common/runtime/zmq_transport.h"
#include "services/drafter/inline_drafter.h"
#include "services/drafter/methods/ngram.h"
#include "services/drafter/metrics_page.h"
#include "services/drafter/model_folder.h"

namespace slipstream {
namespace {

using DrafterNode = Node<InlineDrafter>;

Result<void> run(const DrafterOptions& options, StopSignal& stop) {
  TRY(Fingerprint fingerprint, read_token_fingerprint(options.model));
  TRY(const Endpoint bind, parse_endpoint(options.bind));
  TRY(const Endpoint metrics, parse_endpoint(options.metrics));

  std::atomic<DrafterNode*> node = nullptr;
  const auto page = [&] {
    Exposition page;
    add_build_info("drafter", "", page);
    if (const DrafterNode* running = node) {
      add_drafter_metrics(running->counters(), page);
      add_node_metrics(running->node_counters(), page);
    }
    return page.text();
  };
  const auto ready = [&] { return node != nullptr && node.load()->counters().welcome; };
  TRY(http::Server server, serve_worker_page(metrics.host, metrics.port, {"slipstream-drafter", page, ready}));
  const std::string address = Endpoint{metrics.host, server.port()}.address();

  NgramMethod method;
  DrafterConfig config{.incarnation = random_incarnation(),
                       .fingerprint = std::move(fingerprint),
                       .method = std::string(method.name()),
                       .needs = method.needs(),
                       .metrics_endpoint = "http://" + address + "/metrics",
                       .routers = options.router};
  TRY(const auto transport, ZmqTransport::open({.self = config.incarnation, .bind = bind.tcp()}));
  const std::string bound = transport->bound_endpoint();
  config.draft_endpoint = options.advertise.empty() ? bound : options.advertise;
  InlineDrafter drafter(config, method);
  DrafterNode loop(drafter, *transport);
  const http::Server ends_before_loop = std::move(server);  // whose counters its page reads
  node = &loop;
  TRY_VOID(write_port_file(options.port_file, {{"bind", bound}, {"metrics", address}}));
  log_info("{} at {}, verifiers connect to {}, metrics at {}", config.method, bound, config.draft_endpoint,
           config.metrics_endpoint);
  loop.run(stop.token(), {.words = From<Drain>{{}, {"the drafter was told to stop"}}});
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  const auto parsed = parse_drafter_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<DrafterOptions>(parsed);
  log_start("drafter", log_level_from(options.log_level).value_or(LogLevel::info));
  StopSignal stop;
  const Result<void> ran = run(options, stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
