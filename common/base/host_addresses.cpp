#include "common/base/host_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "common/base/endpoint.h"

namespace slipstream {
namespace {

std::string text_of(const sockaddr& found) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* address = found.sa_family == AF_INET6
                            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(found).sin6_addr)
                            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(found).sin_addr);
  inet_ntop(found.sa_family, address, text, sizeof text);
  return text;
}

// A UDP socket that is connected has sent nothing, but knows the way. nullopt: no address, no way,
// or one that does not leave this machine.
std::optional<std::string> on_the_way(const std::string& towards) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(towards.c_str(), "9", &hints, &list) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  const int probe = socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  const bool found = probe >= 0 && connect(probe, list->ai_addr, list->ai_addrlen) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  if (probe >= 0) close(probe);
  const std::string address = found ? text_of(reinterpret_cast<const sockaddr&>(own)) : "";
  return !found || Endpoint{address, 0}.loopback() ? std::nullopt : std::optional(address);
}

std::optional<std::string> of_an_interface(int family) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    const bool here = at->ifa_addr != nullptr && at->ifa_addr->sa_family == family && (at->ifa_flags & IFF_UP) != 0 &&
                      (at->ifa_flags & IFF_LOOPBACK) == 0;
    const bool local =
        here && family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(*at->ifa_addr).sin6_addr);
    if (here && !local) return text_of(*at->ifa_addr);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> addresses_of(const std::string& host) {
  const addrinfo hints{.ai_flags = 0,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list); error != 0) {
    return fail("{} has no address now: {}", host, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_family == AF_INET || at->ai_family == AF_INET6) addresses.push_back(text_of(*at->ai_addr));
  }
  std::ranges::sort(addresses);
  const auto repeats = std::ranges::unique(addresses);
  addresses.erase(repeats.begin(), repeats.end());
  return addresses;
}

std::string own_address(const std::string& towards) {
  if (const auto address = on_the_way(towards)) return *address;
  for (const int family : {AF_INET, AF_INET6}) {
    if (const auto address = of_an_interface(family)) return *address;
  }
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace slipstream
