// A server for tests: answers with what it was asked, or hands the Exchange over to the test.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/check.h"
#include "common/http/server.h"
#include "tests/unit/common/http/wire_client.h"

namespace slipstream::http {

// Something that another thread brings about; waiting ends as soon as it does.
class Happening {
 public:
  void happen() {
    const std::lock_guard lock(mutex_);
    ++times_;
    changed_.notify_all();
  }
  bool wait(int times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return times_ >= times; });
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
};

inline Response plain_error(int status, std::string_view message, std::string_view) {
  return {.status = status, .content_type = "text/plain", .body = fmt::format("{}: {}", status, message)};
}

// "/held": the test answers. Else: "METHOD path?query type body".
class EchoServer : public testing::Test {
 protected:
  ~EchoServer() override { server_.reset(); }  // before what its handler refers to

  void start(const ServerLimits& limits = {}) {
    auto made = Server::listen(
        "127.0.0.1", 0, [this](Request request, Exchange exchange) { handle(std::move(request), std::move(exchange)); },
        plain_error,
        {.limits = limits, .tls = tls_, .access_log = [this](const Access& access) { log(access); }, .cors = cors_});
    ASSERT_TRUE(made) << made.error().message;
    server_.emplace(std::move(*made));
  }
  uint16_t port() { return server_->port(); }
  WireClient client(int receive_buffer_bytes = 0) { return WireClient(port(), receive_buffer_bytes); }
  Exchange held() {  // the next one, once it is there
    std::unique_lock lock(mutex_);
    const bool came = arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return !held_.empty(); });
    CHECK(came, "no request for /held arrived");
    Exchange exchange = std::move(held_.front());
    held_.pop_front();
    return exchange;
  }
  // Returns when the server's thread has done what was on its way when this was called: it answers
  // another client after that.
  void fence() {
    auto other = client();
    for (int i = 0; i < 10; ++i) {
      other.send("GET /fence HTTP/1.1\r\nHost: h\r\n\r\n");
      other.answer();
    }
  }
  // Waits for a counter to reach a value: a request that is answered by a fence after it on the
  // server's thread.
  template <class Done>
  bool eventually(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done(server_->counters())) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  // The newest line of the access log, once there are so many.
  Access logged(size_t lines = 1) {
    std::unique_lock lock(mutex_);
    const bool came = arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return log_.size() >= lines; });
    CHECK(came, "the access log has {} lines, not {}", log_.size(), lines);
    return log_.back();
  }

  Tls tls_;
  Cors cors_;
  std::optional<Server> server_;

 private:
  void log(const Access& access) {
    const std::lock_guard lock(mutex_);
    log_.push_back(access);
    arrived_.notify_all();
  }
  void handle(Request request, Exchange exchange) {
    if (request.path == "/held") {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(exchange));
      arrived_.notify_all();
    } else if (request.path != "/dropped") {
      exchange.send({.body = fmt::format("{} {}?{} {} {}", request.method, request.path, request.query, request.content_type,
                                         request.body)});
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Exchange> held_;
  std::vector<Access> log_;
};

}  // namespace slipstream::http
