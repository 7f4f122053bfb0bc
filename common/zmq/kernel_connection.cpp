#include "common/zmq/kernel_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace slipstream {
uint64_t connection_cookie(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

// The two numbers are read one after the other, and bytes may arrive in between. Then `unread` is
// too large and the result too small, which spares a connection rather than cutting it wrongly.
std::optional<uint64_t> bytes_taken(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  int unread = 0;
  if (ioctl(fd, SIOCINQ, &unread) != 0) return std::nullopt;
  const auto kept = static_cast<uint64_t>(unread);
  return info.tcpi_bytes_received > kept ? info.tcpi_bytes_received - kept : 0;
}

std::optional<std::string> peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
}

// libzmq's thread may close `fd` at any moment, and the kernel may reuse the number. A duplicate
// keeps naming the same connection, so its cookie can be compared safely. shutdown() ends the
// connection itself, and not only our duplicate of its descriptor.
std::optional<std::string> cut_connection(int fd, uint64_t cookie) {
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return std::nullopt;
  std::optional<std::string> address;
  if (cookie != 0 && connection_cookie(own) == cookie) {
    address = peer_address(own).value_or("somewhere");
    shutdown(own, SHUT_RDWR);
  }
  close(own);
  return address;
}

}  // namespace slipstream
