#include "common/base/host_addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

namespace slipstream {
namespace {

std::string text_of(const addrinfo& found) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* address = found.ai_family == AF_INET6
                            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(found.ai_addr)->sin6_addr)
                            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(found.ai_addr)->sin_addr);
  inet_ntop(found.ai_family, address, text, sizeof text);
  return text;
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
    if (at->ai_family == AF_INET || at->ai_family == AF_INET6) addresses.push_back(text_of(*at));
  }
  std::ranges::sort(addresses);
  const auto repeats = std::ranges::unique(addresses);
  addresses.erase(repeats.begin(), repeats.end());
  return addresses;
}

}  // namespace slipstream
