#include "common/http/server.h"

#include <future>
#include <thread>
#include <utility>

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>

#include "common/base/check.h"
#include "common/http/listener.h"
#include "common/http/site.h"

namespace slipstream::http {

struct Server::Impl {
  Impl(std::shared_ptr<Site> at, std::shared_ptr<Listener> on)
      : site(std::move(at)), listener(std::move(on)), work(site->loop.get_executor()) {
    listener->accept();
    thread = std::thread([this] { site->loop.run(); });
    ::pthread_setname_np(thread.native_handle(), "http");
  }
  ~Impl() {
    CHECK(thread.get_id() != std::this_thread::get_id(), "a handler must not destroy its own server");
    site->stop([this] { listener->close(); });
    work.reset();
    thread.join();
    // An Exchange may keep the site for longer; what the handler refers to need not live as long.
    site->handler = nullptr;
    site->error_body = nullptr;
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<Site> site;
  const std::shared_ptr<Listener> listener;
  // The loop goes on though nobody is connected any more: exchanges that outlive their connection still have a task for it.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  std::thread thread;
};

Result<Server> Server::listen(const std::string& address, uint16_t port, Handler handler, ErrorBody error_body,
                              const ServerLimits& limits) {
  auto site = std::make_shared<Site>(std::move(handler), std::move(error_body), limits);
  auto listener = std::make_shared<Listener>(site);
  TRY_VOID(listener->open(address, port));
  return Server(std::make_unique<Impl>(std::move(site), std::move(listener)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

void Server::finish(std::chrono::milliseconds wait) {
  std::promise<void> let_in;  // all who were at the door: before that, "nobody is here" says nothing
  impl_->site->run([&] {
    impl_->listener->finish();
    let_in.set_value();
  });
  let_in.get_future().wait();
  impl_->site->await_nobody(wait);
}

uint16_t Server::port() const { return impl_->listener->port(); }

ServerCounters Server::counters() const {
  const Site& site = *impl_->site;
  return {.connections = site.connections.load(std::memory_order_relaxed),
          .connections_refused = site.connections_refused.load(std::memory_order_relaxed),
          .requests = site.requests.load(std::memory_order_relaxed),
          .bad_requests = site.bad_requests.load(std::memory_order_relaxed),
          .clients_gone = site.clients_gone.load(std::memory_order_relaxed),
          .slow_readers = site.slow_readers.load(std::memory_order_relaxed)};
}

}  // namespace slipstream::http
