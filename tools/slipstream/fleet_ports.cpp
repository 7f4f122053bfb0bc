#include "tools/slipstream/fleet_ports.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace slipstream::command {
namespace {

// Tests an address before anything starts, so that the user gets one sentence instead of the end of
// a log. SO_REUSEADDR makes connections in TIME_WAIT not count, as for the server itself.
Result<void> check_free(const Endpoint& at, std::string_view flag) {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(address); inet_pton(AF_INET, at.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(at.port);
    size = sizeof v4;
  } else if (auto& v6 = reinterpret_cast<sockaddr_in6&>(address); inet_pton(AF_INET6, at.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(at.port);
    size = sizeof v6;
  } else {
    return fail("--host {} is a name; write an address of this machine, or 0.0.0.0 for all of them", at.host);
  }
  const int probe = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int error = bind(probe, reinterpret_cast<const sockaddr*>(&address), size) == 0 ? 0 : errno;
  close(probe);
  if (error == EADDRINUSE)
    return fail("port {} is in use; choose another with {} N, or any free one with {} 0", at.port, flag, flag);
  if (error == EACCES)
    return fail("port {} needs more rights than this user has; choose one from 1024 up with {} N", at.port, flag);
  if (error == EADDRNOTAVAIL) return fail("--host {} is no address of this machine; 0.0.0.0 stands for all of them", at.host);
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
  const addrinfo hints{.ai_flags = 0,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    const int probe = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool ours = bind(probe, each->ai_addr, each->ai_addrlen) == 0;
    close(probe);
    if (ours) return true;
  }
  return false;
}

}  // namespace slipstream::command
