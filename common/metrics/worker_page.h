// The HTTP side of a process that is no API: /metrics, /health (alive), /ready (a router took it), and / with a page of text.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/http/server.h"

namespace slipstream {

struct WorkerPage {
  std::string name;                      // "slipstream-verifier"
  std::function<std::string()> metrics;  // one scrape; thread-safe
  std::function<bool()> ready;           // thread-safe
};

// port 0: any free one. Errors are Server::listen's.
Result<http::Server> serve_worker_page(const std::string& address, uint16_t port, WorkerPage page);

}  // namespace slipstream
