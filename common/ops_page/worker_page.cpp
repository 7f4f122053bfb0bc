#include "common/ops_page/worker_page.h"

#include <utility>

#include <fmt/format.h>

#include "common/http/stuck_status.h"

namespace slipstream {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

http::Response text(int status, std::string body, std::string_view type = kText) {
  return {.status = status, .content_type = std::string(type), .body = std::move(body), .headers = {}};
}

std::string_view words(WorkerState state) {
  constexpr std::string_view kWords[] = {"waiting for a router", "ready", "leaving"};
  return kWords[static_cast<size_t>(state)];
}

http::Response answer(const WorkerPage& page, const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return text(405, "this page is read with GET\n");
  if (request.path == "/metrics") return text(200, page.metrics(), kPrometheusText);
  if (request.path == "/health") {
    const std::string stuck = page.stuck();
    return stuck.empty() ? text(200, "alive\n") : text(http::kStuckStatus, stuck + "\n");
  }
  if (request.path == "/ready") {
    switch (page.state()) {
      case WorkerState::waiting:
        return text(503, "no router has taken this worker yet; is --router right?\n");
      case WorkerState::ready:
        return text(200, "ready\n");
      case WorkerState::leaving:
        return text(503, "this worker was told to stop: it finishes what it has and takes nothing new\n");
    }
  }
  if (request.path == "/") {
    return text(200, fmt::format("{}: {}\n{}\n/metrics  what it did, for Prometheus\n/health   200 while it gets on\n"
                                 "/ready    200 while a router has it\n",
                                 page.name, words(page.state()), page.work()));
  }
  return text(404, "no such page; / lists them\n");
}

}  // namespace

Result<http::Server> serve_worker_page(const std::string& address, uint16_t port, WorkerPage page) {
  return http::Server::listen(
      address, port,
      [page = std::move(page)](http::Request request, http::Exchange exchange) { exchange.send(answer(page, request)); },
      [](int status, std::string_view message, std::string_view) { return text(status, fmt::format("{}\n", message)); });
}

}  // namespace slipstream
