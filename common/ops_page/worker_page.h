// The HTTP pages of a worker (a verifier or a drafter), for operators and for Prometheus:
//
//   /           a page of text: name, state, what it works with and does
//   /metrics    its metrics
//   /health     200 while its loop and its jobs get on; else 500 and the reason
//   /ready      200 while a router uses it and it is not leaving; else 503 and the reason
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/http/server.h"

namespace slipstream {

// No router uses it yet; at least one does; it was told to stop.
enum class WorkerState : uint8_t { waiting, ready, leaving };

// welcome: at least one router has accepted this worker. leaving: it was told to stop.
constexpr WorkerState worker_state(bool welcome, bool leaving) {
  return leaving ? WorkerState::leaving : welcome ? WorkerState::ready : WorkerState::waiting;
}

struct WorkerPage {
  std::string name;                      // "slipstream-verifier"
  std::function<std::string()> metrics;  // one scrape; thread-safe
  std::function<WorkerState()> state;    // thread-safe
  std::function<std::string()> stuck;    // why it does not get on; "": it does (health.h); thread-safe
  std::function<std::string()> work;     // lines about its model or method, and what it does now; thread-safe
};

// Serves the pages until the server is destroyed. port 0: any free one. Errors: as Server::listen.
Result<http::Server> serve_worker_page(const std::string& address, uint16_t port, WorkerPage page);

}  // namespace slipstream
