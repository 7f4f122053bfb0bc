#include "common/http/connection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>

namespace slipstream::http {

namespace {

std::string address_of(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto client = socket.remote_endpoint(error);
  return error ? "-" : client.address().to_string();
}

}  // namespace

Connection::Connection(Stream::Socket socket, std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      stream_(std::move(socket), state_->tls),
      timer_(stream_.get_executor()),
      buffer_(std::max(state_->limits.header_bytes, kHttpPipelinedBytesMax) + kReadBytes),
      outbox_(stream_, state_->limits.stall, [this](Outbox::End end) { on_outbox(end); }),
      client_(address_of(stream_.socket())) {
  ErrorCode ignored;
  stream_.socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  state_->open.insert(this);
}

void Connection::start() {
  counted_ = true;
  state_->connections.fetch_add(1, std::memory_order_relaxed);
  await_request();
  if (stream_.has_tls()) return shake_hands();
  await_first();
}

void Connection::refuse_client(std::string message) {
  if (!stream_.has_tls()) return refuse(503, message);
  refusal_ = std::move(message);
  shake_hands();
}

// A handshake takes the server's thread a millisecond or two; its waits block nobody.
void Connection::shake_hands() {
  phase_ = Phase::handshake;
  arm(state_->limits.tls);
  stream_.async_handshake([self = shared_from_this()](ErrorCode error) { self->on_handshake(error); });
}

void Connection::on_handshake(ErrorCode error) {
  if (phase_ != Phase::handshake) return;
  if (!error) return refusal_.empty() ? await_first() : refuse(503, refusal_);
  state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
  // Who speaks HTTP in clear here hears so in clear.
  if (error.category() == boost::asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
    const std::string answer = encode_answer(
        state_->error_body(400, "this port speaks HTTPS: write https:// before its address", ""), {.keep_alive = false});
    ErrorCode ignored;
    stream_.socket().write_some(boost::asio::buffer(answer), ignored);
  }
  close();
}

void Connection::await_first() {
  phase_ = Phase::idle;
  arm(state_->finishing ? kLastRequest : state_->limits.idle);
  read();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  forget_body();
  stream_.close();
  timer_.cancel();
  outbox_.cancel();
  has_request();
  log_access(Access::End::cut);
  if (counted_) state_->left();
  state_->open.erase(this);
  gone_ = nullptr;  // it may hold an Exchange, which holds this connection
}

void Connection::await_request() {
  if (!place_) place_ = state_->without_request.insert(state_->without_request.end(), this);
}

void Connection::has_request() {
  if (const auto place = std::exchange(place_, std::nullopt)) state_->without_request.erase(*place);
}

void Connection::finish() {
  if (phase_ == Phase::answering || phase_ == Phase::lingering || phase_ == Phase::closed) return;
  arm(kLastRequest);
}

std::chrono::milliseconds Connection::read_deadline() const { return state_->finishing ? kLastRequest : state_->limits.read; }

void Connection::close_kept() {
  if (kept_ && phase_ == Phase::idle) close();
}

void Connection::read() {
  if (reading_ || half_closed_ || phase_ == Phase::closed) return;
  if (phase_ == Phase::answering && buffer_.size() >= kHttpPipelinedBytesMax) return;  // next_request() reads on
  reading_ = true;
  stream_.async_read(state_->incoming, [self = shared_from_this()](ErrorCode error, std::string_view bytes) {
    self->reading_ = false;
    self->on_read(error, bytes);
  });
}

void Connection::on_read(ErrorCode error, std::string_view bytes) {
  if (phase_ == Phase::closed) return;
  if (error == boost::asio::error::eof && phase_ == Phase::answering) return client_sends_no_more();
  if (error) return client_went();
  if (phase_ != Phase::lingering) {
    buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(bytes.size()), boost::asio::buffer(bytes)));
  }
  if (phase_ == Phase::idle || phase_ == Phase::head || phase_ == Phase::body) parse();
  read();
}

// Setting the timer again cancels its pending wait, but a wait that has already expired still calls
// its handler without an error. The timer's new expiry shows that this handler is of an old wait.
void Connection::arm(std::chrono::milliseconds wait) {
  timer_.expires_after(wait);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    const bool armed_anew = self->timer_.expiry() > boost::asio::steady_timer::clock_type::now();
    if (!error && !armed_anew) self->on_deadline();
  });
}

void Connection::on_deadline() {
  switch (phase_) {
    case Phase::handshake:
      state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
      return close();
    case Phase::idle:
    case Phase::lingering:
      return close();
    case Phase::head:
    case Phase::body:
      state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
      return refuse(408, fmt::format("{}the request did not arrive within {} ms",
                                     state_->finishing ? "this server is stopping: " : "", read_deadline().count()));
    case Phase::answering:
      if (half_closed_) probe();
      return;  // else it expired just before the request was complete
    case Phase::closed:
      return;
  }
}

void Connection::on_outbox(Outbox::End end) {
  if (phase_ == Phase::closed) return;
  if (end == Outbox::End::stalled && phase_ == Phase::answering) state_->slow_readers.fetch_add(1, std::memory_order_relaxed);
  if (end != Outbox::End::empty) return client_went();
  if (phase_ == Phase::answering && answer_ == Answer::complete) next_request();
}

// Bytes of a pipelined request may be in the buffer already, so it is parsed before anything is
// read.
void Connection::next_request() {
  const bool another = form_.keep_alive && state_->keeps_connections && !state_->finishing;
  if (!another || (half_closed_ && buffer_.size() == 0)) return linger();
  phase_ = Phase::idle;
  kept_ = true;
  await_request();
  arm(state_->limits.idle);
  if (buffer_.size() > 0) parse();
  if (half_closed_ && phase_ != Phase::answering) return linger();  // the rest of a request cannot come
  if (phase_ == Phase::idle) shrink();
  read();
}

// Of thousands of connections that are kept alive most are idle.
void Connection::shrink() {
  parser_.reset();
  if (buffer_.size() == 0) buffer_.shrink_to_fit();
  outbox_.shrink();
}

// Closing a socket with unread bytes of the client resets the connection, and the client may then
// lose an answer that it has not read yet. So only the sending side is closed first, and what the
// client still sends is read and dropped.
void Connection::linger() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::lingering;
  if (half_closed_ && !stream_.has_tls()) return close();
  stream_.end_sending([self = shared_from_this()](ErrorCode) {
    if (self->half_closed_) self->close();
  });
  arm(kLingerDeadline);
  read();
}

void Connection::client_sends_no_more() {
  half_closed_ = true;
  await_reset();
  probe();
}

// Urgent data, which nobody sends, would end the wait without an error.
void Connection::await_reset() {
  stream_.socket().async_wait(Stream::Socket::wait_error, [self = shared_from_this()](ErrorCode error) {
    if (error || self->phase_ == Phase::closed) return;
    self->stream_.was_reset() ? self->client_went() : self->await_reset();
  });
}

// close() comes before gone(): the callback may destroy the last Exchange, whose call then finds a
// closed connection.
void Connection::client_went() {
  const bool owed = phase_ == Phase::answering && answer_ != Answer::complete;
  const auto gone = std::exchange(gone_, nullptr);
  log_access(Access::End::client_left);
  close();
  if (!owed) return;
  state_->clients_gone.fetch_add(1, std::memory_order_relaxed);
  gone_request_ = request_;
  if (gone) gone();
}

}  // namespace slipstream::http
