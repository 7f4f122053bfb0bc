#include "tools/slipstream/fleet_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "common/base/host_addresses.h"

namespace slipstream::command {
namespace {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// nullopt: the host is no address.
std::optional<SocketAddress> socket_address(const std::string& host, uint16_t port) {
  SocketAddress address;
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(address.bytes); inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size = sizeof v4;
    return address;
  }
  if (auto& v6 = reinterpret_cast<sockaddr_in6&>(address.bytes); inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.size = sizeof v6;
    return address;
  }
  return std::nullopt;
}

// 0, or an errno. SO_REUSEADDR makes connections in TIME_WAIT not count, as for the server itself.
int bind_once(const SocketAddress& address) {
  const int probe = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int error = bind(probe, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0 ? 0 : errno;
  close(probe);
  return error;
}

// Tests an address before anything starts, so that the user gets one sentence instead of the end of
// a log.
Result<void> check_free(const Endpoint& at, std::string_view flag) {
  const auto address = socket_address(at.host, at.port);
  if (!address) return fail("--host {} is a name; write an address of this machine, or 0.0.0.0 for all of them", at.host);
  const int error = bind_once(*address);
  if (error == EADDRINUSE)
    return fail_for_now("port {} is in use; choose another with {} N, or any free one with {} 0", at.port, flag, flag);
  if (error == EACCES)
    return fail("port {} needs more rights than this user has; choose one from 1024 up with {} N", at.port, flag);
  if (error == EADDRNOTAVAIL)
    return fail_for_now("--host {} is no address of this machine; 0.0.0.0 stands for all of them", at.host);
  return {};
}

}  // namespace

Result<void> check_ports(const FleetOptions& options) {
  TRY(const Endpoint http, http_endpoint(options));
  TRY_VOID(check_free(http, "--port"));
  TRY_VOID(check_free(metrics_endpoint(options, "verifier"), "--metrics-port"));
  return check_free(metrics_endpoint(options, "drafter"), "--metrics-port");
}

// Only an address of this machine can be bound.
bool is_this_machine(const std::string& host) {
  const auto addresses = addresses_of(host);
  return addresses && std::ranges::any_of(*addresses, [](const std::string& address) {
           const auto here = socket_address(address, 0);
           return here && bind_once(*here) == 0;
         });
}

}  // namespace slipstream::command
