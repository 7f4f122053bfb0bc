// TCP sockets as a relay needs them: non-blocking, closed with their owner.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "common/base/endpoint.h"
#include "common/base/result.h"

namespace slipstream::faults {

class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() {
    if (const int fd = std::exchange(fd_, -1); fd >= 0) ::close(fd);
  }

  // Appends what is there, up to a limit. False: the connection has ended.
  bool receive(std::vector<std::byte>& into);
  // Sends and removes as much of the front as the kernel takes. False: the connection has ended.
  bool send(std::vector<std::byte>& out);

 private:
  int fd_;
};

Result<Socket> listen_at(const Endpoint& endpoint);
Result<Endpoint> bound_endpoint(const Socket& listener);
Socket accept_from(const Socket& listener);  // none: nobody waits
// Begins to connect; that nobody is there is told by the first receive().
Result<Socket> connect_to(const Endpoint& endpoint);

}  // namespace slipstream::faults
