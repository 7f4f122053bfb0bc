// Runs a worker's process: its keys and addresses, its HTTP page, its links, its actor's loop, and
// the drain at the end. A verifier and a drafter differ in their WorkerParts only.
//
// open() makes the cheap checks, so that a wrong option is reported before a model is loaded.
//
//   TRY(WorkerService service, WorkerService::open(service_options("verifier", options)));
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
#include "common/config/service_options.h"
#include "common/http/server.h"
#include "common/keys/keys.h"
#include "common/metrics/exposition.h"
#include "common/ops_page/health.h"
#include "common/ops_page/loop_metrics.h"
#include "common/ops_page/worker_page.h"
#include "common/runtime/actor_loop.h"
#include "common/service/drain.h"
#include "common/service/router_names.h"
#include "common/worker/worker.h"
#include "common/zmq/zmq_transport.h"

namespace slipstream {

// Settings from the command line.
struct WorkerServiceOptions {
  std::string name;                  // the role: "verifier"
  std::vector<std::string> routers;  // endpoints, and names of routers (dns://)
  std::string key, peers;            // the key file and the folder of enrolled keys; both empty: no keys
  std::string metrics;               // host:port of the HTTP page
  // The host:port of it that routers are told. Empty: the bound one; if that is every address of
  // this machine and a router is on another one, own_address() (base/host_addresses.h).
  std::string advertise_metrics = {};
  std::chrono::milliseconds job_stuck;   // a job that runs longer makes /health fail
  std::string port_file;                 // where to write the bound addresses; empty: nowhere
  std::string bind = {};                 // the endpoint that this worker listens on; empty: none
  std::string advertise = {};            // the endpoint that other processes are told; empty: the bound one
  std::vector<std::string> admits = {};  // roles whose keys may connect to `bind`
};

// Those that every worker's command line says; `bind` and what goes with it are left empty.
WorkerServiceOptions service_options(std::string name, const WorkerOptions& options);

// The addresses of the process, known once its sockets are open.
struct WorkerPlace {
  WorkerProcess process;
  std::string page;        // host:port of the HTTP page
  std::string bound;       // the endpoint that it listens on; empty: none
  std::string reached_at;  // the endpoint that other processes are told: `bound` or `advertise`, with #NAME of the key
};

// What a role adds. J and R are the job of the actor's Run<J> effect and its result; both are NoJob
// for an actor without jobs. L takes the effects that ActorLoop does not perform itself; NoLocal if
// there are none. The HTTP thread calls the functions that add metrics and tell_work.
template <Actor A, class J = NoJob, class R = NoJob, class L = NoLocal>
struct WorkerParts {
  using Loop = ActorLoop<A, J, R, L>;
  using Counters = std::decay_t<decltype(std::declval<A&>().counters())>;

  std::function<A(const WorkerPlace&)> make;  // makes the actor
  typename Loop::Work work = {};              // runs a job, on the compute thread
  // Makes the L. It may give the actor events, from any thread, once the loop calls it.
  std::function<L(std::function<bool(typename A::Event)>)> local = [](const auto&) { return L{}; };
  std::string numerics_id = {};  // shown on the metrics page
  std::string works_with = {};   // a line of the HTTP page: what the worker works with
  std::function<std::string(const Counters&)> tell_work = [](const Counters&) {
    return std::string();
  };  // further lines; must be thread-safe
  std::function<void(Exposition&)> add_start_metrics = [](Exposition&) {};  // how long the start took; must be thread-safe
  std::function<void(const Counters&, Exposition&)> add_metrics;            // must be thread-safe
  std::function<void(const WorkerPlace&)> tell_ready;                       // logs that the worker is ready
  std::chrono::milliseconds grace{0};                                       // longest drain
  // Whether the drain is over.
  std::function<bool(const A&)> drained = [](const A&) { return true; };
  DrainLines<Counters> drain_lines;
};

class WorkerService {
 public:
  // Opens the keys and reads the addresses. Errors name the option.
  static Result<WorkerService> open(WorkerServiceOptions options);

  // Runs the actor on this thread. Returns after a stop was requested and the actor has drained, or
  // with an error if a socket cannot be opened or the port file cannot be written. Call it once.
  template <Actor A, class J = NoJob, class R = NoJob, class L = NoLocal>
  Result<void> run(WorkerParts<A, J, R, L> parts, StopSignal& stop) const;

 private:
  WorkerService(WorkerServiceOptions options, std::vector<std::string> names, std::optional<Keys> keys, Endpoint metrics);

  void add_facts(const std::string& numerics_id, Exposition& page) const;
  Result<http::Server> serve_page(WorkerPage page) const;
  Result<std::unique_ptr<ZmqTransport>> open_transport() const;
  std::string told_page(uint16_t port) const;  // the host:port that routers are told
  WorkerPlace place(const http::Server& server, const ZmqTransport& transport) const;
  Result<void> write_ports(const WorkerPlace& at) const;

  WorkerServiceOptions options_;
  std::vector<std::string> names_;  // the dns:// ones of the routers; options_.routers has the others
  std::optional<Keys> keys_;
  Endpoint metrics_;
  Incarnation self_;
};

template <Actor A, class J, class R, class L>
Result<void> WorkerService::run(WorkerParts<A, J, R, L> parts, StopSignal& stop) const {
  // The page is served before the actor exists, because the actor's Hello carries the page's port.
  // Until then `running` is null and the page says that the worker waits.
  using Loop = typename WorkerParts<A, J, R, L>::Loop;
  std::atomic<const Loop*> running = nullptr;
  const auto metrics = [&] {
    Exposition page;
    add_facts(parts.numerics_id, page);
    parts.add_start_metrics(page);
    if (const auto* loop = running.load()) {
      parts.add_metrics(loop->counters(), page);
      add_loop_metrics(loop->loop_counters(), loop->standstill(), page);
    }
    return page.text();
  };
  const auto state = [&] {
    const auto* loop = running.load();
    if (loop == nullptr) return WorkerState::waiting;
    const WorkerCounters worker = loop->counters().worker;
    return worker_state(worker.welcome, worker.draining);
  };
  const auto stuck = [&] {
    const auto* loop = running.load();
    return loop == nullptr ? std::string() : why_stuck(loop->standstill(), options_.job_stuck);
  };
  const auto work = [&] {
    const auto* loop = running.load();
    return (parts.works_with.empty() ? "" : parts.works_with + "\n") +
           (loop == nullptr ? "" : parts.tell_work(loop->counters()));
  };
  TRY(http::Server server, serve_page({.name = {}, .metrics = metrics, .state = state, .stuck = stuck, .work = work}));
  TRY(const auto transport, open_transport());
  const WorkerPlace at = place(server, *transport);
  A actor = parts.make(at);
  Loop* own = nullptr;
  const auto post = [&own](typename A::Event event) { return own->post(std::move(event)); };
  Loop loop(actor, *transport, std::move(parts.work), parts.local(post));
  own = &loop;
  // The page reads the loop's counters, so the server must be destroyed before the loop: it moves
  // to a variable that is declared after it.
  const http::Server ends_before_loop = std::move(server);
  running = &loop;
  const RouterNames names(names_,
                          [&](std::vector<std::string> routers) { return loop.post(RoutersNamed{std::move(routers)}); });
  TRY_VOID(write_ports(at));
  parts.tell_ready(at);
  run_until_drained(
      loop, actor, stop.token(),
      {.drain = From<Drain>{{}, {"the " + options_.name + " was told to stop"}}, .grace = parts.grace, .done = parts.drained},
      parts.drain_lines);
  return {};
}

}  // namespace slipstream
