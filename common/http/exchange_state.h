// Behind an Exchange: which connection, which of its requests.
#pragma once

#include <memory>
#include <utility>

#include "common/http/connection.h"
#include "common/http/server.h"

namespace slipstream::http {

struct Exchange::State {
  State(std::shared_ptr<Connection> connection_of, uint64_t request_number)
      : connection(std::move(connection_of)), request(request_number) {}
  ~State() {  // behind an answer that another thread sent just before, even if this is the loop's own
    connection->state().run_last([on = connection, number = request] { on->forgotten(number); });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Calls it on the server's thread.
  template <class Call>
  void run(Call call) {
    connection->state().run([on = connection, number = request, call = std::move(call)]() mutable { call(*on, number); });
  }

  const std::shared_ptr<Connection> connection;
  const uint64_t request;
};

}  // namespace slipstream::http
