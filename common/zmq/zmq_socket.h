// Owners for ZeroMQ's C objects: contexts, sockets and message frames that close themselves.
// Private to this layer. Failures that can only be bugs or a lack of memory abort.
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
  ~Context();  // waits for frames still to be sent, for the sockets' linger at most; REQUIRES: all sockets are closed
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
};

// One frame of a message.
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
  bool more() const { return zmq_msg_more(&message_) != 0; }               // further frames of the message follow
  int connection_fd() const { return zmq_msg_get(&message_, ZMQ_SRCFD); }  // of the connection that it came over
  // The public key that the ZapAuthenticator accepted for the connection; empty: there are no keys.
  std::string user() {
    const char* id = zmq_msg_gets(&message_, "User-Id");
    return id == nullptr ? "" : id;
  }
  zmq_msg_t* get() { return &message_; }

 private:
  zmq_msg_t message_;
};

enum class Sent { yes, full, nobody };  // queued; the peer's queue is full; the peer is not connected

// One thread at a time (the Context may be shared by threads).
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
  void disconnect(const std::string& endpoint);  // does nothing if it is not connected
  // A PAIR socket that gives the `events` (ZMQ_EVENT_... flags) of this socket's connections; read
  // it with next_event(). It must outlive this socket.
  Socket monitor(const Context& context, int events);

  bool receive(Message& message);  // the next frame. Never blocks; false: there is none now
  void skip_rest(Message& last);   // drops the further frames of a message; `last`: the last frame received
  // Sends one message: all of its frames, or none. Never blocks.
  Sent send(std::initializer_list<std::span<const std::byte>> frames);

 private:
  void choose_family(const std::string& endpoint);
  void* socket_ = nullptr;
};

struct MonitorEvent {
  int event = 0;  // a ZMQ_EVENT_...; 0: there is none now
  int value = 0;  // the file descriptor, for the events of connections
};
MonitorEvent next_event(Socket& monitor);  // never blocks

}  // namespace slipstream::zmq
