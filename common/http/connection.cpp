#include "common/http/connection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>

namespace slipstream::http {

Connection::Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      buffer_(std::max(state_->limits.header_bytes, kHttpPipelinedBytesMax) + kReadBytes),
      outbox_(socket_, state_->limits.stall, [this](Outbox::End end) { on_outbox(end); }) {
  ErrorCode ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  state_->open.insert(this);
}

void Connection::start() {
  counted_ = true;
  state_->connections.fetch_add(1, std::memory_order_relaxed);
  await_request();
  arm(state_->limits.idle);
  read();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  ErrorCode ignored;
  socket_.close(ignored);
  timer_.cancel();
  outbox_.cancel();
  has_request();
  if (counted_) state_->left();
  state_->open.erase(this);
  gone_ = nullptr;
}

void Connection::await_request() {
  if (!place_) place_ = state_->without_request.insert(state_->without_request.end(), this);
}

void Connection::has_request() {
  if (const auto place = std::exchange(place_, std::nullopt)) state_->without_request.erase(*place);
}

void Connection::finish() {
  if (phase_ == Phase::idle) arm(kLastRequest);
}

void Connection::read() {
  if (reading_ || phase_ == Phase::closed) return;
  if (phase_ == Phase::answering && buffer_.size() >= kHttpPipelinedBytesMax) return;  // enough that wait for their turn
  reading_ = true;
  socket_.async_read_some(boost::asio::buffer(incoming_), [self = shared_from_this()](ErrorCode error, size_t bytes) {
    self->reading_ = false;
    self->on_read(error, bytes);
  });
}

void Connection::on_read(ErrorCode error, size_t bytes) {
  if (phase_ == Phase::closed) return;
  if (error) return client_went();
  if (phase_ != Phase::lingering) {
    buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(bytes), boost::asio::buffer(incoming_, bytes)));
  }
  if (phase_ == Phase::idle || phase_ == Phase::head || phase_ == Phase::body) parse();
  read();
}

void Connection::arm(std::chrono::milliseconds wait) {
  timer_.expires_after(wait);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    const bool armed_anew = self->timer_.expiry() > boost::asio::steady_timer::clock_type::now();  // since this one fired
    if (!error && !armed_anew) self->on_deadline();
  });
}

void Connection::on_deadline() {
  switch (phase_) {
    case Phase::idle:
    case Phase::lingering:
      return close();
    case Phase::head:
    case Phase::body:
      state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
      return refuse(408, fmt::format("the request did not arrive within {} ms", state_->limits.read.count()));
    case Phase::answering:
    case Phase::closed:
      return;  // fired just before its request was complete
  }
}

void Connection::on_outbox(Outbox::End end) {
  if (phase_ == Phase::closed) return;
  if (end == Outbox::End::stalled && phase_ == Phase::answering) state_->slow_readers.fetch_add(1, std::memory_order_relaxed);
  if (end != Outbox::End::empty) return client_went();
  if (phase_ == Phase::answering && answer_ == Answer::complete) next_request();
}

void Connection::next_request() {
  if (!form_.keep_alive || state_->finishing) return linger();
  phase_ = Phase::idle;
  await_request();
  arm(state_->limits.idle);
  if (buffer_.size() > 0) parse();
  read();
}

// Closing at once with bytes of the client unread would reset the connection, and destroy our
// answer on its way.
void Connection::linger() {
  phase_ = Phase::lingering;
  ErrorCode ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  arm(kLingerDeadline);
  read();
}

void Connection::client_went() {
  const bool owed = phase_ == Phase::answering && answer_ != Answer::complete;
  const auto gone = std::exchange(gone_, nullptr);
  close();
  if (!owed) return;
  state_->clients_gone.fetch_add(1, std::memory_order_relaxed);
  gone_request_ = request_;
  if (gone) gone();
}

}  // namespace slipstream::http
