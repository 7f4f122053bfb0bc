// What a server and all its connections share: the loop, the handler, the counters. It lives as
// long as any of them, or any Exchange, so that a late call finds a closed connection and never a
// freed one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_set>

#include <boost/asio/io_context.hpp>

#include "common/http/server.h"

namespace slipstream::http {

class Connection;

struct ServerState {
  ServerState(Handler handle, ErrorBody error, const ServerLimits& bounds)
      : handler(std::move(handle)), error_body(std::move(error)), limits(bounds) {}

  // Runs it on the loop's thread: at once if this is it, else soon. Not after stop().
  void run(std::function<void()> task);
  // Soon, behind all that any thread asked for before. Not after stop().
  void run_last(std::function<void()> task);
  // The last task: what keeps the loop alive closes. Later ones are dropped, so that none stays
  // behind in a loop nobody runs.
  void stop(std::function<void()> last);

  // A connection that counted has closed.
  void left();
  // Returns when no connection is open, or after that time. Any thread but the loop's.
  void await_nobody(std::chrono::milliseconds wait);

  // Constant while the loop runs.
  Handler handler;
  ErrorBody error_body;
  ServerLimits limits;

  // The loop's thread only.
  std::unordered_set<Connection*> open;
  std::list<Connection*> without_request;  // those that have sent no whole head yet, who waits longest first
  bool finishing = false;                  // connections close after the answer under way

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
};

}  // namespace slipstream::http
