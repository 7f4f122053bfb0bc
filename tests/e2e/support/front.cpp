#include "tests/e2e/support/front.h"

#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/slipstream/chat_client.h"

namespace slipstream::e2e {
namespace {

constexpr int kThreads = 32;  // as many as a test asks at once

http::Response text(int status, std::string_view message, std::string_view) {
  return {.status = status, .content_type = "text/plain", .body = std::string(message), .headers = {}};
}

http::Server server_of(http::Handler handler) {
  auto server = http::Server::listen("127.0.0.1", 0, std::move(handler), text);
  if (!server) throw std::runtime_error(server.error().message);
  return *std::move(server);
}

}  // namespace

Front::Front(uint16_t router, Plot plot, std::string owner)
    : router_(router),
      plot_(std::move(plot)),
      owner_(std::move(owner)),
      server_(server_of([this](http::Request request, http::Exchange exchange) {
        {
          std::lock_guard lock(mutex_);
          calls_.emplace_back(std::move(request), std::move(exchange));
        }
        more_.notify_one();
      })) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { hand_on_all(stop); });
}

Front::~Front() { threads_.clear(); }

std::string Front::url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }

void Front::hand_on_all(const std::stop_token& stop) {
  http::Client router("127.0.0.1", router_, command::kAnswerTimeout);
  for (;;) {
    std::optional<Call> call;
    {
      std::unique_lock lock(mutex_);
      if (!more_.wait(lock, stop, [this] { return !calls_.empty(); })) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    hand_on(router, *call);
  }
}

void Front::hand_on(http::Client& router, const Call& call) const {
  auto [request, exchange] = call;
  if (request.method != "POST") return exchange.send(page(router, request.path));
  const Change change = plot_(nlohmann::json::parse(request.body));
  bool begun = false;
  const auto reply = router.post_stream(request.path, request.body, [&](std::string_view data) {
    if (!std::exchange(begun, true)) exchange.begin_stream("text/event-stream");
    std::string event(data);
    if (change && data != "[DONE]") {
      nlohmann::json json = nlohmann::json::parse(data);
      change(json);
      event = json.dump();
    }
    exchange.write(fmt::format("data: {}\n\n", event));
    return true;
  });
  if (!reply) return exchange.abort();
  if (begun) return exchange.end();
  exchange.send({.status = reply->status, .body = reply->body});
}

http::Response Front::page(http::Client& router, const std::string& path) const {
  const auto reply = router.get(path);
  if (!reply) return text(502, reply.error().message, "");
  nlohmann::json json = nlohmann::json::parse(reply->body);
  for (auto& model : json["data"]) model["owned_by"] = owner_;
  return {.status = reply->status, .body = json.dump()};
}

}  // namespace slipstream::e2e
