#include "common/runtime/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace slipstream {
namespace {

constexpr std::string_view kScheme = "tcp://";
constexpr int kPortMax = 65535;

struct HostPort {
  std::string_view host, port;
};

Result<HostPort> split(std::string_view endpoint) {
  const size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kScheme) || colon < kScheme.size()) {
    return fail("\"{}\" is no endpoint: write tcp://127.0.0.1:PORT", endpoint);
  }
  return HostPort{endpoint.substr(kScheme.size(), colon - kScheme.size()), endpoint.substr(colon + 1)};
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
}

Result<void> check_host(std::string_view endpoint, std::string_view host, bool keyed) {
  if (is_loopback(host)) return {};
  if (!keyed) {
    return fail(
        "{} is beyond this host, and without keys messages travel in clear: make keys with `slipstream keys new` and give each "
        "process --key and --peers, or use tcp://127.0.0.1:PORT",
        endpoint);
  }
  if (!host.empty() && std::ranges::all_of(host, is_host_character)) return {};
  return fail("{} has no host that can be read: write an IPv4 address or a name", endpoint);
}

Result<void> check_port(std::string_view endpoint, std::string_view port, int lowest) {
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error == std::errc() && end == port.data() + port.size() && number >= lowest && number <= kPortMax) return {};
  return fail("{} has no port in [{}, {}] at its end", endpoint, lowest, kPortMax);
}

}  // namespace

KeyedEndpoint split_key(std::string_view endpoint) {
  const size_t mark = std::min(endpoint.find('#'), endpoint.size());
  return {std::string(endpoint.substr(0, mark)), std::string(endpoint.substr(std::min(mark + 1, endpoint.size())))};
}

Result<void> check_bind_endpoint(std::string_view endpoint, bool keyed) {
  TRY(const HostPort parts, split(endpoint));
  TRY_VOID(check_host(endpoint, parts.host, keyed));
  if (parts.port == "*") return {};
  return check_port(endpoint, parts.port, 0);
}

Result<void> check_connect_endpoint(std::string_view endpoint, bool keyed) {
  TRY(const HostPort parts, split(endpoint));
  TRY_VOID(check_host(endpoint, parts.host, keyed));
  return check_port(endpoint, parts.port, 1);
}

}  // namespace slipstream
