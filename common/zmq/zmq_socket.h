// ZeroMQ's C interface with owners: contexts, sockets and message frames that end themselves.
// Private to this layer.
#pragma once

#include <zmq.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/base/result.h"

namespace slipstream::zmq {

std::string last_error();

class Context {
 public:
  Context();
  ~Context();  // waits for what lingers (at most the sockets' linger)
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
};

// One frame.
class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() { zmq_msg_close(&message_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  std::span<const std::byte> bytes() {
    return {static_cast<const std::byte*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }
  std::string text() { return {static_cast<const char*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)}; }
  bool more() const { return zmq_msg_more(&message_) != 0; }
  int connection_fd() const { return zmq_msg_get(&message_, ZMQ_SRCFD); }
  std::string user() {  // whom the zap_authenticator took the connection for; empty: nobody was asked
    const char* id = zmq_msg_gets(&message_, "User-Id");
    return id == nullptr ? "" : id;
  }
  zmq_msg_t* get() { return &message_; }

 private:
  zmq_msg_t message_;
};

enum class Sent { yes, full, nobody };

// Not thread-safe, but for its context.
class Socket {
 public:
  Socket() = default;
  Socket(const Context& context, int type);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  explicit operator bool() const { return socket_ != nullptr; }
  void* get() const { return socket_; }
  void close();

  void set(int option, int value);
  void set(int option, int64_t value);
  void set(int option, const std::string& value);
  std::string last_endpoint() const;

  Result<void> bind(const std::string& endpoint);
  Result<void> connect(const std::string& endpoint);
  void disconnect(const std::string& endpoint);  // nothing if it is not connected
  // A PAIR socket that tells of these events of this socket's connections. It must outlive this
  // socket.
  Socket monitor(const Context& context, int events);

  bool receive(Message& message);  // false: none there now. Never blocks
  void skip_rest(Message& last);   // the further frames of this message; `last` is the last frame received
  // All frames of one message, or none of it. Never blocks.
  Sent send(std::initializer_list<std::span<const std::byte>> frames);

 private:
  void* socket_ = nullptr;
};

struct MonitorEvent {
  int event = 0;  // 0: none there now
  int value = 0;  // a file descriptor, for those we ask for
};
MonitorEvent next_event(Socket& monitor);

}  // namespace slipstream::zmq
