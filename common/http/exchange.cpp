#include <utility>

#include "common/http/exchange_state.h"

namespace slipstream::http {

void Exchange::send(Response response) {
  state_->run([response = std::move(response)](Connection& on, uint64_t request) { on.send(request, response); });
}

void Exchange::begin_stream(std::string content_type, Headers headers) {
  state_->run([type = std::move(content_type), headers = std::move(headers)](Connection& on, uint64_t request) {
    on.begin_stream(request, type, headers);
  });
}

// Bytes are counted here and not only when they reach the outbox: otherwise the writes to a slow
// reader could pile up without a limit in the queue of the server's loop.
void Exchange::write(std::string chunk) {
  Connection& connection = *state_->connection;
  const size_t unsent = connection.unsent().fetch_add(chunk.size(), std::memory_order_relaxed) + chunk.size();
  if (unsent > connection.state().limits.unsent_bytes) {
    connection.unsent().fetch_sub(chunk.size(), std::memory_order_relaxed);
    return state_->run([](Connection& on, uint64_t request) { on.cut_slow_reader(request); });
  }
  state_->run([chunk = std::move(chunk)](Connection& on, uint64_t request) { on.write(request, chunk); });
}

void Exchange::end() {
  state_->run([](Connection& on, uint64_t request) { on.end(request); });
}

void Exchange::abort() {
  state_->run([](Connection& on, uint64_t request) { on.abort(request); });
}

void Exchange::annotate(std::string note) {
  state_->run([note = std::move(note)](Connection& on, uint64_t request) { on.annotate(request, note); });
}

void Exchange::concerns(std::string subject) {
  state_->run([subject = std::move(subject)](Connection& on, uint64_t request) { on.concerns(request, subject); });
}

void Exchange::on_gone(std::function<void()> gone) {
  state_->run([gone = std::move(gone)](Connection& on, uint64_t request) { on.on_gone(request, gone); });
}

}  // namespace slipstream::http
