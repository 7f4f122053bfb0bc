// What the copies of one Exchange share: the connection, and the number of the request on it.
#pragma once

#include <memory>
#include <utility>

#include "common/http/connection.h"
#include "common/http/server.h"

namespace slipstream::http {

struct Exchange::State {
  State(std::shared_ptr<Connection> connection_of, uint64_t request_number)
      : connection(std::move(connection_of)), request(request_number) {}
  // The last copy was destroyed. Another thread may have sent an answer just before, which is still
  // queued in the loop. So this task is queued behind it, even on the loop's own thread.
  ~State() {
    connection->state().run_last([on = connection, number = request] { on->forgotten(number); });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Runs call(connection, request) on the server's thread.
  template <class Call>
  void run(Call call) {
    connection->state().run([on = connection, number = request, call = std::move(call)]() mutable { call(*on, number); });
  }

  const std::shared_ptr<Connection> connection;
  const uint64_t request;
};

}  // namespace slipstream::http
