// A client that sends exactly the bytes it is told to: what no well-behaved client would. Every
// wait ends with the bytes that are waited for, or after kPatience, which fails the test.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

#include "common/base/check.h"

namespace slipstream {

class WireClient {
 public:
  static constexpr timeval kPatience{20, 0};

  explicit WireClient(uint16_t port, int receive_buffer_bytes = 0) : WireClient() {
    if (receive_buffer_bytes > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    CHECK(connect(port) == 0, "nobody listens on {}", port);
  }
  // A client whose handshake is under way, because it hears nothing yet: see hears().
  static WireClient deaf(uint16_t port) {
    WireClient client;
    sock_filter drop_all = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
    const sock_fprog program = {.len = 1, .filter = &drop_all};
    CHECK(::setsockopt(client.socket_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0, "{}", ::strerror(errno));
    ::fcntl(client.socket_, F_SETFL, O_NONBLOCK);
    CHECK(client.connect(port) != 0 && errno == EINPROGRESS, "{}", ::strerror(errno));
    return client;
  }
  // From now on it hears, and its handshake goes on when the server repeats its part, after 1 s.
  // Returns 0 once the client is connected, otherwise why it is not (errno).
  int hears() {
    const int unused = 0;  // the call wants one
    ::setsockopt(socket_, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
    pollfd connected = {.fd = socket_, .events = POLLOUT, .revents = 0};
    if (::poll(&connected, 1, static_cast<int>(kPatience.tv_sec) * 1000) != 1) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    ::fcntl(socket_, F_SETFL, 0);
    return error;
  }
  ~WireClient() { close(); }
  WireClient(WireClient&& other) noexcept : socket_(std::exchange(other.socket_, -1)), held_(std::move(other.held_)) {}

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // What came up to and including `end`; what came at all, if the connection closed first.
  std::string until(std::string_view end) {
    size_t at = held_.find(end);
    while (at == std::string::npos && receive()) at = held_.find(end);
    const size_t size = at == std::string::npos ? held_.size() : at + end.size();
    std::string text = held_.substr(0, size);
    held_.erase(0, size);
    return text;
  }
  std::string all() {  // until the server closes
    while (receive()) {
    }
    return std::exchange(held_, {});
  }
  std::string answer() {  // one answer with a Content-Length, head and body
    std::string text = until("\r\n\r\n");
    const size_t at = text.find("Content-Length: ");
    if (at == std::string::npos) return text;
    const size_t body = std::stoul(text.substr(at + 16));
    while (held_.size() < body && receive()) {
    }
    text += held_.substr(0, body);
    held_.erase(0, body);
    return text;
  }
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void reset() {  // leaves as a crashed process does: RST, not FIN
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  WireClient() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  }
  int connect(uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  bool receive() {
    char bytes[65536];
    const ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EAGAIN) ADD_FAILURE() << "the server neither sent nor closed within " << kPatience.tv_sec << " s";
    if (n <= 0) return false;
    held_.append(bytes, static_cast<size_t>(n));
    return true;
  }

  int socket_;
  std::string held_;
};

}  // namespace slipstream
