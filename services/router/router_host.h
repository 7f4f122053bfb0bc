// Connects the router's actor, its loop and its HTTP API: a client's request becomes an event of
// the actor, and what the actor has for a client becomes an answer.
//
//   RouterHost host(std::move(model), *transport);
//   TRY_VOID(host.listen(endpoint));
//   host.run(stop.token(), grace);
//
// Threads: run() is the loop. The HTTP server's thread and a text thread, which parses and
// tokenises, post to it. A grammar thread compiles grammars for the text thread.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/endpoint.h"
#include "common/http/server.h"
#include "common/runtime/actor_loop.h"
#include "common/runtime/task_thread.h"
#include "services/router/client_access.h"
#include "services/router/http_api/http_api.h"
#include "services/router/model_folder.h"
#include "services/router/router.h"
#include "services/router/scraper.h"

namespace slipstream {

class RouterHost {
 public:
  // REQUIRES: model.config has its incarnation. The transport outlives the host.
  RouterHost(ModelFolder model, Transport& transport, ClientAccess access = {});
  ~RouterHost();
  RouterHost(const RouterHost&) = delete;
  RouterHost& operator=(const RouterHost&) = delete;

  // The host takes requests from here on. Call it once. Errors are those of Server::listen().
  Result<void> listen(const Endpoint& at);
  const std::string& address() const { return address_; }  // host:port, once it listens
  std::string url() const;                                 // "http://host:port" or "https://host:port"

  // REQUIRES: listen() has succeeded. Returns when `stop` has come and all answers are finished, or
  // cut after `grace`.
  void run(const std::stop_token& stop, std::chrono::milliseconds grace);

 private:
  struct ToClients {  // what the actor has for clients
    HttpApi& api;
    void operator()(Delivery delivery) const { api.deliver(std::move(delivery)); }
    void operator()(const StillHere& sign) const { api.still_here(sign.request); }
    void operator()(const Failure& failure) const { api.fail(failure); }
  };

  HttpApi::Ports ports();
  std::string metrics() const;

  // A member may call those above it, and the threads of those below it, so they end from the last
  // one up.
  ClientAccess access_;
  bool tunes_;
  std::string prometheus_;
  std::string vllm_model_;  // as vLLM's metrics shall name it; empty: they are not there
  Router router_;
  HttpApi api_;
  ActorLoop<Router, NoJob, NoJob, ToClients> loop_;
  TaskThread text_, grammars_;
  std::string address_;
  std::atomic<const http::Server*> listening_ = nullptr;
  std::atomic<bool> loop_ended_ = false;
  std::optional<http::Server> server_;
};

}  // namespace slipstream
