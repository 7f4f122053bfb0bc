#include "common/zmq/zmq_socket.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "common/base/check.h"

namespace slipstream::zmq {
namespace {

// A non-blocking call may fail with "not now". Any other failure is a bug of ours or a lack of
// memory.
void check_again(int error) { CHECK(error == EAGAIN || error == EINTR, "a socket failed: {}", zmq_strerror(error)); }

}  // namespace

std::string last_error() { return zmq_strerror(zmq_errno()); }

Context::Context() : context_(zmq_ctx_new()) { CHECK(context_, "no ZeroMQ context: {}", last_error()); }

Context::~Context() {
  while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
  }
}

Socket::Socket(const Context& context, int type) : socket_(zmq_socket(context.get(), type)) {
  CHECK(socket_, "no ZeroMQ socket: {}", last_error());
}

void Socket::close() {
  if (!socket_) return;
  // Without this, libzmq's I/O thread could report the end of a connection to a monitor that is
  // gone, and block for ever.
  zmq_socket_monitor(socket_, nullptr, 0);
  zmq_close(std::exchange(socket_, nullptr));
}

void Socket::set(int option, int value) {
  const int rc = zmq_setsockopt(socket_, option, &value, sizeof value);
  CHECK(rc == 0, "socket option {} = {}: {}", option, value, last_error());
}

void Socket::set(int option, int64_t value) {
  const int rc = zmq_setsockopt(socket_, option, &value, sizeof value);
  CHECK(rc == 0, "socket option {} = {}: {}", option, value, last_error());
}

void Socket::set(int option, const std::string& value) {
  const int rc = zmq_setsockopt(socket_, option, value.data(), value.size());
  CHECK(rc == 0, "socket option {}: {}", option, last_error());
}

std::string Socket::last_endpoint() const {
  char endpoint[256] = {};
  size_t size = sizeof endpoint;
  zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, endpoint, &size);
  return endpoint;
}

// With ZMQ_IPV6, libzmq gives IPv4 addresses in IPv6's form, so it is set for IPv6 endpoints only.
void Socket::choose_family(const std::string& endpoint) { set(ZMQ_IPV6, endpoint.starts_with("tcp://[") ? 1 : 0); }

Result<void> Socket::bind(const std::string& endpoint) {
  choose_family(endpoint);
  if (zmq_bind(socket_, endpoint.c_str()) == 0) return {};
  if (zmq_errno() == EADDRINUSE) return fail("{} is in use by another process: stop it, or choose another port", endpoint);
  return fail("{} cannot be listened on: {}", endpoint, last_error());
}

Result<void> Socket::connect(const std::string& endpoint) {
  choose_family(endpoint);
  if (zmq_connect(socket_, endpoint.c_str()) == 0) return {};
  return fail("{} cannot be connected to: {}", endpoint, last_error());
}

void Socket::disconnect(const std::string& endpoint) { zmq_disconnect(socket_, endpoint.c_str()); }

Socket Socket::monitor(const Context& context, int events) {
  static std::atomic<uint64_t> counter{0};  // makes the name unique in this process
  const std::string name = fmt::format("inproc://monitor-{}", ++counter);
  const int rc = zmq_socket_monitor(socket_, name.c_str(), events);
  CHECK(rc == 0, "no socket monitor: {}", last_error());
  Socket monitor(context, ZMQ_PAIR);
  monitor.set(ZMQ_LINGER, 0);
  const auto connected = monitor.connect(name);
  CHECK(connected, "no socket monitor: {}", connected.error().message);
  return monitor;
}

bool Socket::receive(Message& message) {
  if (zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) >= 0) return true;
  check_again(zmq_errno());
  return false;
}

void Socket::skip_rest(Message& last) {
  while (last.more() && receive(last)) {
  }
}

// Only the first frame can find the queue full: libzmq then accepts all further frames of the same
// message, or fails because the connection ended in between.
Sent Socket::send(std::initializer_list<std::span<const std::byte>> frames) {
  size_t left = frames.size();
  bool looked = false;
  for (auto frame = frames.begin(); frame != frames.end();) {
    const int flags = ZMQ_DONTWAIT | (left > 1 ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket_, frame->data(), frame->size(), flags) >= 0) {
      ++frame;
      --left;
      continue;
    }
    const int error = zmq_errno();
    if (error == EHOSTUNREACH) return Sent::nobody;
    check_again(error);
    if (left < frames.size()) return Sent::nobody;  // the connection ended between two frames: ZeroMQ drops the message
    if (std::exchange(looked, true)) return Sent::full;
    // The queue may look full only because the socket has not yet read that the peer took messages;
    // it reads such commands at most once a millisecond. Asking for ZMQ_EVENTS makes it read them.
    int events = 0;
    size_t size = sizeof events;
    zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &size);
  }
  return Sent::yes;
}

MonitorEvent next_event(Socket& monitor) {
  Message head;
  if (!monitor.receive(head)) return {};
  uint16_t event = 0;
  uint32_t value = 0;
  const auto bytes = head.bytes();
  CHECK(bytes.size() == sizeof event + sizeof value, "a monitor event of {} bytes", bytes.size());
  std::memcpy(&event, bytes.data(), sizeof event);
  std::memcpy(&value, bytes.data() + sizeof event, sizeof value);
  monitor.skip_rest(head);
  return {event, static_cast<int>(value)};
}

}  // namespace slipstream::zmq
