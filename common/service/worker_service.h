// The life of a worker's process: its keys and addresses, its HTTP page, its links, its actor's
// loop, and the drain at the end. A verifier and a drafter differ in WorkerParts only.
//
//   TRY(WorkerService service, WorkerService::open({.name = "drafter", .routers = options.router, ...}));  // cheap checks
//   first
//   ... load the model ...
//   return service.run<Drafter, DraftPlan, Drafts>({.make = [&](const WorkerPlace& at) { return Drafter(...); }, ...}, stop);
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/endpoint.h"
#include "common/base/stop_signal.h"
#include "common/http/server.h"
#include "common/keys/keys.h"
#include "common/metrics/exposition.h"
#include "common/ops_page/node_metrics.h"
#include "common/ops_page/worker_page.h"
#include "common/runtime/node.h"
#include "common/service/drain.h"
#include "common/worker/worker.h"
#include "common/zmq/zmq_transport.h"

namespace slipstream {

struct WorkerServiceOptions {  // from the command line
  std::string name;            // the role: "verifier"
  std::vector<std::string> routers;
  std::string key, peers;  // file and folder; empty: no keys
  std::string metrics;     // host:port of the HTTP page
  std::string port_file;
  std::string bind = {};                 // endpoint for those who connect to this worker; empty: nobody does
  std::string advertise = {};            // what those are told instead; empty: where it is bound
  std::vector<std::string> admits = {};  // roles that may connect
};

// Where the process is, once its sockets are open.
struct WorkerPlace {
  WorkerProcess process;
  std::string page;        // host:port of the HTTP page
  std::string bound;       // endpoint; empty: not bound
  std::string reached_at;  // the endpoint that others are told: `bound` or `advertise`, with the name of the key
};

// What a role brings. J, R: the job of its Run<J> effect and its result; NoJob where it has none.
template <Actor A, class J = NoJob, class R = NoJob>
struct WorkerParts {
  using Counters = std::decay_t<decltype(std::declval<A&>().counters())>;

  std::function<A(const WorkerPlace&)> make;                                // the actor
  typename Node<A, J, R>::Work work = {};                                   // on the compute thread
  std::string numerics_id = {};                                             // on the metrics page
  std::string works_with = {};                                              // on the page: what it works with, for people
  std::function<void(Exposition&)> add_start_metrics = [](Exposition&) {};  // what the start took; thread-safe
  std::function<void(const Counters&, Exposition&)> add_metrics;            // thread-safe
  std::function<void(const WorkerPlace&)> tell_ready;                       // to the log
  std::chrono::milliseconds grace{0};                                       // for the drain, at most
  std::function<bool(const A&)> drained = [](const A&) { return true; };
  DrainWords<Counters> words;
};

class WorkerService {
 public:
  // Opens the keys and reads the addresses. Errors name the option.
  static Result<WorkerService> open(WorkerServiceOptions options);

  // Returns once `stop` has come and the actor has drained. Call it once.
  template <Actor A, class J = NoJob, class R = NoJob>
  Result<void> run(WorkerParts<A, J, R> parts, StopSignal& stop) const;

 private:
  WorkerService(WorkerServiceOptions options, std::optional<Keys> keys, Endpoint metrics);

  void add_facts(const std::string& numerics_id, Exposition& page) const;
  Result<http::Server> serve_page(std::function<std::string()> metrics, std::function<WorkerState()> state,
                                  const std::string& work) const;
  Result<std::unique_ptr<ZmqTransport>> open_transport() const;
  WorkerPlace place(const http::Server& server, const ZmqTransport& transport) const;
  Result<void> write_ports(const WorkerPlace& at) const;

  WorkerServiceOptions options_;
  std::optional<Keys> keys_;
  Endpoint metrics_;
  Incarnation self_;
};

template <Actor A, class J, class R>
Result<void> WorkerService::run(WorkerParts<A, J, R> parts, StopSignal& stop) const {
  std::atomic<const Node<A, J, R>*> running = nullptr;
  const auto metrics = [&] {
    Exposition page;
    add_facts(parts.numerics_id, page);
    parts.add_start_metrics(page);
    if (const auto* node = running.load()) {
      parts.add_metrics(node->counters(), page);
      add_node_metrics(node->node_counters(), page);
    }
    return page.text();
  };
  const auto state = [&] {
    const auto* node = running.load();
    if (node == nullptr) return WorkerState::waiting;
    const WorkerCounters worker = node->counters().worker;
    return worker_state(worker.welcome, worker.draining);
  };
  TRY(http::Server server, serve_page(metrics, state, parts.works_with));
  TRY(const auto transport, open_transport());
  const WorkerPlace at = place(server, *transport);
  A actor = parts.make(at);
  Node<A, J, R> node(actor, *transport, std::move(parts.work));
  const http::Server ends_before_node = std::move(server);  // whose counters its page reads
  running = &node;
  TRY_VOID(write_ports(at));
  parts.tell_ready(at);
  run_until_drained(
      node, actor, stop.token(),
      {.words = From<Drain>{{}, {"the " + options_.name + " was told to stop"}}, .grace = parts.grace, .done = parts.drained},
      parts.words);
  return {};
}

}  // namespace slipstream
