#include "tests/e2e/faults/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace slipstream::faults {
namespace {

constexpr int kBacklog = 100;
constexpr size_t kReceiveBytes = 64 * 1024;

bool later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

Result<sockaddr_in> address_of(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1 || !endpoint.loopback()) {
    return fail("{} is not on this machine; write tcp://127.0.0.1:PORT", endpoint.tcp());
  }
  return address;
}

Socket make_socket() { return Socket(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

void send_at_once(const Socket& socket) {  // what is to be late is late by the dice
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

bool Socket::receive(std::vector<std::byte>& into) {
  std::array<std::byte, kReceiveBytes> buffer;
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
  if (size > 0) into.insert(into.end(), buffer.begin(), buffer.begin() + size);
  return size > 0 || (size < 0 && later());
}

bool Socket::send(std::vector<std::byte>& out) {
  if (out.empty()) return true;
  const ssize_t size = ::send(fd_, out.data(), out.size(), MSG_NOSIGNAL);
  if (size > 0) out.erase(out.begin(), out.begin() + size);
  return size >= 0 || later();
}

Result<Socket> listen_at(const Endpoint& endpoint) {
  TRY(const sockaddr_in address, address_of(endpoint));
  Socket listener = make_socket();
  const int on = 1;
  setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.fd(), kBacklog) != 0) {
    return fail("cannot listen at {} ({}); choose another port", endpoint.tcp(), std::strerror(errno));
  }
  return listener;
}

Result<Endpoint> bound_endpoint(const Socket& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return fail("a socket without a name");
  std::array<char, INET_ADDRSTRLEN> host{};
  inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
  return Endpoint{host.data(), ntohs(address.sin_port)};
}

Socket accept_from(const Socket& listener) {
  Socket accepted(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (accepted) send_at_once(accepted);
  return accepted;
}

Result<Socket> connect_to(const Endpoint& endpoint) {
  TRY(const sockaddr_in address, address_of(endpoint));
  Socket socket = make_socket();
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS) {
    return fail("cannot connect to {} ({})", endpoint.tcp(), std::strerror(errno));
  }
  send_at_once(socket);
  return socket;
}

}  // namespace slipstream::faults
