#include "common/http/server.h"

#include <thread>
#include <utility>

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>

#include "common/base/check.h"
#include "common/http/listener.h"
#include "common/http/server_state.h"

namespace slipstream::http {

struct Server::Impl {
  Impl(std::shared_ptr<ServerState> at, std::shared_ptr<Listener> on)
      : state(std::move(at)), listener(std::move(on)), work(state->loop.get_executor()) {
    listener->accept();
    thread = std::thread([this] { state->loop.run(); });
    ::pthread_setname_np(thread.native_handle(), "http");
  }
  ~Impl() {
    CHECK(thread.get_id() != std::this_thread::get_id(), "a handler must not destroy its own server");
    // The order matters: closing the connections is the loop's last task, and only without the work
    // guard does run() return after it.
    state->stop([this] { listener->close(); });
    work.reset();
    thread.join();
    // An Exchange may keep the state alive for longer than the objects that the handler refers to.
    state->handler = nullptr;
    state->error_body = nullptr;
    state->access_log = nullptr;
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<ServerState> state;
  const std::shared_ptr<Listener> listener;
  // Keeps the loop running while no connection is open: exchanges that outlive their connection
  // still post tasks to it.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  std::thread thread;
};

Result<Server> Server::listen(const std::string& address, uint16_t port, Handler handler, ErrorBody error_body,
                              const ServerOptions& options) {
  auto state = std::make_shared<ServerState>(std::move(handler), std::move(error_body), options);
  auto listener = std::make_shared<Listener>(state);
  TRY_VOID(listener->open(address, port));
  return Server(std::make_unique<Impl>(std::move(state), std::move(listener)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

void Server::keep_no_connection() {
  impl_->state->run([listener = impl_->listener] { listener->keep_no_connection(); });
}

void Server::finish(std::chrono::milliseconds wait) {
  impl_->state->run([listener = impl_->listener] { listener->finish(); });
  impl_->state->await_nobody(wait);
}

uint16_t Server::port() const { return impl_->listener->port(); }

ServerCounters Server::counters() const {
  const ServerState& state = *impl_->state;
  return {.connections = state.connections.load(std::memory_order_relaxed),
          .connections_refused = state.connections_refused.load(std::memory_order_relaxed),
          .requests = state.requests.load(std::memory_order_relaxed),
          .bad_requests = state.bad_requests.load(std::memory_order_relaxed),
          .clients_gone = state.clients_gone.load(std::memory_order_relaxed),
          .slow_readers = state.slow_readers.load(std::memory_order_relaxed)};
}

}  // namespace slipstream::http
