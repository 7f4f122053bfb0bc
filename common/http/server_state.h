// What a server and its connections share: the loop, the handler, the counters. It lives as long as
// any of them and any Exchange, so that a late call finds a closed connection and never a destroyed
// one.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <unordered_set>

#include <boost/asio/io_context.hpp>

#include "common/http/server.h"

namespace slipstream::http {

class Connection;

struct ServerState {
  ServerState(Handler handle, ErrorBody error, const ServerOptions& options)
      : handler(std::move(handle)),
        error_body(std::move(error)),
        access_log(options.access_log),
        limits(options.limits),
        tls(options.tls),
        cors(options.cors) {}

  // Runs the task on the loop's thread: at once if the caller is on that thread, otherwise queued.
  // After stop() the task is dropped.
  void run(std::function<void()> task);
  // Always queues the task, behind all tasks queued before. After stop() the task is dropped.
  void run_last(std::function<void()> task);
  // Queues `last` as the last task and drops all later ones, because a task that stays in a loop
  // which does not run any more would keep the state alive for ever.
  void stop(std::function<void()> last);

  void left();  // a connection that was counted has closed
  void stopped_listening();
  // Returns when nobody listens and no connection is open, or after `wait`. Call it from any thread
  // but the loop's.
  void await_nobody(std::chrono::milliseconds wait);

  // Constant while the loop runs.
  Handler handler;
  ErrorBody error_body;
  AccessLog access_log;  // may be null
  ServerLimits limits;
  Tls tls;
  Cors cors;

  // Used by the loop's thread only.
  std::array<char, kReadBytes> incoming;  // what a connection has just read
  std::unordered_set<Connection*> open;
  std::list<Connection*> without_request;  // have sent no whole head yet; the longest waiting first
  size_t receiving_bytes = 0;              // of bodies that have not arrived whole
  bool keeps_connections = true;           // for another request, if the client wants so
  bool finishing = false;                  // connections close after the answer under way
  RequestIds request_ids{std::random_device{}() | uint64_t{std::random_device{}()} << 32};

  // Any thread.
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_requests{0};
  std::atomic<uint64_t> clients_gone{0};
  std::atomic<uint64_t> slow_readers{0};

  boost::asio::io_context loop{1};

 private:
  std::mutex mutex_;  // orders run() against stop(), and left() against await_nobody()
  std::condition_variable emptier_;
  bool stopped_ = false;
  bool listening_ = true;
};

}  // namespace slipstream::http
