// slipstream-router: takes chat requests over HTTP and has verifiers and drafters answer them. Constructs, connects, runs.
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/config/port_file.h"
#include "common/keys/keys.h"
#include "common/metrics/build_info.h"
#include "common/ops_page/node_metrics.h"
#include "common/ops_page/server_metrics.h"
#include "common/runtime/incarnation.h"
#include "common/runtime/node.h"

#include "common/runtime/task_thread.h"
#include "common/zmq/open_files.h"
#include "common/zmq/zmq_transport.h"
#include "services/router/farewell.h"
#include "services/router/metrics_page.h"
#include "services/router/model_folder.h"
#include "services/router/router.h"

namespace slipstream {
namespace {

struct ToHttp {  // what the actor has for the clients
  HttpApi& api;
  void operator()(const Delivery& delivery) const { api.deliver(delivery); }
  void operator()(const Failure& failure) const { api.fail(failure); }
};
using RouterNode = Node<Router, NoJob, NoJob, ToHttp>;

Result<void> run(const RouterOptions& options, StopSignal& stop) {
  TRY(ModelFolder model, read_model_folder(options));
  TRY(const Endpoint http, parse_endpoint(options.http));
  TRY(const auto keys, open_keys(options.key, options.peers, "router"));
  model.config.incarnation = random_incarnation();
  TRY(const auto transport,
      ZmqTransport::open(
          {.self = model.config.incarnation, .bind = options.bind, .keys = keys, .admits = {"verifier", "drafter"}}));
  Router router(model.config);
  RouterNode* node = nullptr;  // set, like text, before anybody can ask
  TaskThread* text = nullptr;
  const HttpApi* front_door = nullptr;
  std::atomic<const http::Server*> server = nullptr;
  const auto page = [&] {
    Exposition page;
    add_build_info("router", "", page);
    add_router_metrics(node->counters(), page);
    add_error_metrics(front_door->errors(), page);
    add_node_metrics(node->node_counters(), page);
    if (const http::Server* listening = server) add_server_metrics(listening->counters(), page);
    return page.text();
  };
  const auto post = [&](HttpApi::ToRouter event) {
    return std::visit([&](auto&& e) { return node->post(std::forward<decltype(e)>(e)); }, std::move(event));
  };
  const auto later = [&](TaskThread::Task chat) { return text->post(std::move(chat)); };
  HttpApi api(std::move(model.served), model.config.incarnation, {post, later, [&] { return node->counters(); }, page});
  front_door = &api;
  RouterNode loop(router, *transport, {}, ToHttp{api});
  node = &loop;
  TaskThread text_thread(kInboxEventsMax);  // declared so that it closes before the loop that its tasks post to
  text = &text_thread;
  const auto handle = [&](auto request, auto exchange) { api.handle(std::move(request), std::move(exchange)); };
  TRY(http::Server front, http::Server::listen(http.host, http.port, handle, HttpApi::error_body));
  server = &front;
  const std::string address = Endpoint{http.host, front.port()}.address(), bind = transport->bound_endpoint();
  api.listens_at(address);
  TRY_VOID(write_port_file(options.port_file, {{"http", address}, {"bind", bind}}));
  log_info("id {:016x}, pid {}: serving {} at http://{}/, workers connect to {}", model.config.incarnation, getpid(),
           options.served_name(), address, bind);
  const auto done = [](const Router& r) { return r.counters().live + r.counters().waiting == 0; };
  const std::chrono::milliseconds grace(options.drain_ms);
  RouterCounters when_told;
  const auto told = [&](const Router& r) { log_info("{}", told_to_stop(when_told = r.counters(), grace)); };
  const auto left = loop.run(
      stop.token(), {.words = Closing{}, .grace = grace, .done = done, .last_words = Closing{.now = true}, .told = told});
  log_info("{}", stopped(when_told, router.counters()));
  front.finish(std::max(kFarewellLinger, left));  // for those who read slowly
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  auto parsed = parse_router_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<RouterOptions>(parsed);
  log_start("router", log_level_from(options.log_level).value_or(LogLevel::info));
  allow_open_files();
  StopSignal stop;
  const Result<void> ran = run(options, stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
