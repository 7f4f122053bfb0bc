#include "common/service/router_names.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/endpoint.h"
#include "common/base/log.h"

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

void sort_out_repeats(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  const auto repeats = std::ranges::unique(texts);
  texts.erase(repeats.begin(), repeats.end());
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
  sort_out_repeats(addresses);
  return addresses;
}

RouterNames::RouterNames(std::vector<std::string> names, Found found, LookUp look_up, std::chrono::milliseconds every)
    : names_(std::move(names)), found_(std::move(found)), look_up_(std::move(look_up)), every_(every) {
  if (!names_.empty()) thread_ = std::jthread([this](const std::stop_token& ending) { keep_looking(ending); });
}

void RouterNames::keep_looking(const std::stop_token& ending) {
  std::unique_lock lock(mutex_);
  while (!ending.stop_requested()) {
    look();
    ended_.wait_for(lock, ending, every_, [] { return false; });
  }
}

void RouterNames::look() {
  for (const std::string& name : names_) look_at(name);
  std::vector<std::string> all;
  for (const auto& [name, endpoints] : endpoints_) all.insert(all.end(), endpoints.begin(), endpoints.end());
  sort_out_repeats(all);
  if (all != told_ && found_(all)) told_ = std::move(all);
}

void RouterNames::look_at(const std::string& name) {
  const KeyedEndpoint keyed = split_key(without_name_scheme(name));
  const auto endpoint = parse_endpoint(keyed.endpoint, Use::connect);
  const auto addresses = endpoint ? look_up_(endpoint->host) : std::unexpected(endpoint.error());
  const std::string fault = addresses ? "" : addresses.error().message;
  if (std::exchange(faults_[name], fault) != fault && !fault.empty()) {
    log_warning("--router {}: {}; looked up again every {} ms", name, fault, every_.count());
  }
  if (!addresses) return;
  std::vector<std::string> endpoints;
  for (const std::string& address : *addresses) {
    endpoints.push_back(Endpoint{address, endpoint->port}.tcp() + (keyed.key.empty() ? "" : "#" + keyed.key));
  }
  endpoints_[name] = std::move(endpoints);
}

}  // namespace slipstream
