#include "common/runtime/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

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

Result<void> check_host(std::string_view endpoint, std::string_view host) {
  if (is_loopback(host)) return {};
  return fail(
      "{} is beyond this host: without keys, messages travel in clear, and keys come in a later version. Use "
      "tcp://127.0.0.1:PORT",
      endpoint);
}

Result<void> check_port(std::string_view endpoint, std::string_view port, int lowest) {
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error == std::errc() && end == port.data() + port.size() && number >= lowest && number <= kPortMax) return {};
  return fail("{} has no port in [{}, {}] at its end", endpoint, lowest, kPortMax);
}

}  // namespace

Result<void> check_bind_endpoint(std::string_view endpoint) {
  TRY(const HostPort parts, split(endpoint));
  TRY_VOID(check_host(endpoint, parts.host));
  if (parts.port == "*") return {};
  return check_port(endpoint, parts.port, 0);
}

Result<void> check_connect_endpoint(std::string_view endpoint) {
  TRY(const HostPort parts, split(endpoint));
  TRY_VOID(check_host(endpoint, parts.host));
  return check_port(endpoint, parts.port, 1);
}

}  // namespace slipstream
