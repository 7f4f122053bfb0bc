// slipstream-drafter: guesses ahead for every sequence of its verifiers. Constructs, connects, runs.
#include <unistd.h>

#include <atomic>
#include <utility>

#include <fmt/format.h>
#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/config/port_file.h"
#include "common/keys/keys.h"
#include "common/metrics/build_info.h"
#include "common/ops_page/node_metrics.h"
#include "common/ops_page/worker_page.h"
#include "common/runtime/incarnation.h"
#include "common/runtime/node.h"
#include "common/zmq/open_files.h"
#include "common/zmq/zmq_transport.h"
#include "services/drafter/farewell.h"
#include "services/drafter/inline_drafter.h"
#include "common/drafting/make_method.h"
#include "services/drafter/metrics_page.h"
#include "services/drafter/model_folder.h"

namespace slipstream {
namespace {

// The actor by itself, with its jobs on a thread of their own, or with the method inside.
using ThreadedNode = Node<Drafter, DraftPlan, Drafts>;
using InlineNode = Node<InlineDrafter>;

std::string drafts_with(const DrafterConfig& config) {
  if (config.draft_model.empty()) return config.method;
  return fmt::format("{} with {}, weights {:016x}", config.method, config.draft_model, config.fingerprint.weights);
}

template <class DrafterNode, class MakeActor, class... Work>
Result<void> run(const DrafterOptions& options, DrafterConfig config, StopSignal& stop, MakeActor make_actor, Work... work) {
  TRY(const Endpoint bind, parse_endpoint(options.bind));
  TRY(const auto keys, open_keys(options.key, options.peers, "drafter"));
  TRY(auto routers, with_router_keys(options.router, keys));
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
  const auto state = [&] {
    if (node == nullptr) return WorkerState::waiting;
    const auto counters = node.load()->counters();
    return worker_state(counters.welcome, counters.stopping);
  };
  TRY(http::Server server,
      serve_worker_page(metrics.host, metrics.port, {"slipstream-drafter", page, state, drafts_with(config)}));
  const std::string address = Endpoint{metrics.host, server.port()}.address();
  config.metrics_endpoint = "http://" + address + "/metrics";
  config.pid = static_cast<uint32_t>(getpid());
  config.routers = std::move(routers);
  TRY(const auto transport,
      ZmqTransport::open({.self = config.incarnation, .bind = bind.tcp(), .keys = keys, .admits = {"verifier"}}));
  const std::string bound = transport->bound_endpoint();
  const std::string door = options.advertise.empty() ? bound : options.advertise;
  config.draft_endpoint = keys ? keys->named(door) : door;
  auto drafter = make_actor(config);
  DrafterNode loop(drafter, *transport, work...);
  const http::Server ends_before_loop = std::move(server);  // whose counters its page reads
  node = &loop;
  TRY_VOID(write_port_file(options.port_file, {{"bind", bound}, {"metrics", address}}));
  log_info("id {:016x}, pid {}: {} at {}, verifiers connect to {}, metrics at {}", config.incarnation, getpid(),
           drafts_with(config), bound, config.draft_endpoint, config.metrics_endpoint);
  const auto told = [](const auto& d) { log_info("{}", told_to_stop(d.counters())); };
  loop.run(stop.token(), {.words = From<Drain>{{}, {"the drafter was told to stop"}}, .told = told});
  log_info("{}", stopped(drafter.counters()));
  return {};
}

Result<void> run(const DrafterOptions& options, StopSignal& stop) {
  TRY(Fingerprint fingerprint, read_token_fingerprint(options.model));
  TRY(const auto method, make_method(options, fingerprint));
  DraftModel model = method->draft_model();
  fingerprint.weights = model.weights;
  const DrafterConfig config{.incarnation = random_incarnation(),
                             .fingerprint = std::move(fingerprint),
                             .method = std::string(method->name()),
                             .draft_model = std::move(model.name),
                             .routers = options.router};
  if (method->quick()) {
    return run<InlineNode>(options, config, stop, [&](const DrafterConfig& at) { return InlineDrafter(at, *method); });
  }
  const auto work = [&](DraftPlan& plan) { return run_draft(*method, plan); };
  return run<ThreadedNode>(options, config, stop, [](const DrafterConfig& at) { return Drafter(at); }, work);
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  const auto parsed = parse_drafter_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<DrafterOptions>(parsed);
  log_start("drafter", log_level_from(options.log_level).value_or(LogLevel::info));
  allow_open_files();
  StopSignal stop;
  const Result<void> ran = run(options, stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
