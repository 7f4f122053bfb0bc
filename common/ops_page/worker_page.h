// The HTTP side of a process that is no API: /metrics, /health (alive), /ready (a router took it,
// and it is not leaving), and / with a page of text.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/http/server.h"

namespace slipstream {

enum class WorkerState : uint8_t { waiting, ready, leaving };  // no router took it yet; one did; it was told to stop

constexpr WorkerState worker_state(bool welcome, bool leaving) {
  return leaving ? WorkerState::leaving : welcome ? WorkerState::ready : WorkerState::waiting;
}

struct WorkerPage {
  std::string name;                      // "slipstream-verifier"
  std::function<std::string()> metrics;  // one scrape; thread-safe
  std::function<WorkerState()> state;    // thread-safe
  std::string work = {};                 // what it works with, for people; empty: the page does not say
};

// port 0: any free one. Errors are Server::listen's.
Result<http::Server> serve_worker_page(const std::string& address, uint16_t port, WorkerPage page);

}  // namespace slipstream
