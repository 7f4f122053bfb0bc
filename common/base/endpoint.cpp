#include "common/base/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace slipstream {
namespace {

std::optional<uint16_t> parse_port(std::string_view text) {
  if (text == "*") return 0;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
}

// The canonical text of an IPv6 address; nullopt: it is none.
std::optional<std::string> canonical_ipv6(std::string_view text) {
  in6_addr address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  char canonical[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &address, canonical, sizeof canonical);
  return canonical;
}

// The host in the spelling of Endpoint::host; nullopt: it cannot be read.
std::optional<std::string> parse_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) return canonical_ipv6(text.substr(1, text.size() - 2));
  if (text.empty() || !std::ranges::all_of(text, is_host_character)) return std::nullopt;
  return text == "localhost" ? "127.0.0.1" : std::string(text);
}

}  // namespace

bool Endpoint::ipv6() const { return host.find(':') != std::string::npos; }

// inet_pton is used because it refuses leading zeros. A resolver reads 0127.0.0.1 as octal, which
// is 87.0.0.1 and thus another machine.
bool Endpoint::loopback() const {
  if (host == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool Endpoint::every_address() const { return host == "0.0.0.0" || host == "::"; }

std::string Endpoint::address() const { return ipv6() ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port); }

std::string Endpoint::tcp() const {
  const std::string text = "tcp://" + address();
  return port == 0 ? text.substr(0, text.size() - 1) + "*" : text;
}

Result<Endpoint> parse_endpoint(std::string_view text, Use use) {
  std::string_view rest = text;
  if (rest.starts_with("tcp://")) rest.remove_prefix(6);
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    return fail("\"{}\" begins with {}, which has no place here; write host:port alone, such as 127.0.0.1:8080", text,
                text.substr(0, text.size() - rest.size() + scheme + 3));
  }
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return fail("\"{}\" has no port; write host:port, such as 127.0.0.1:8080", text);
  auto host = parse_host(rest.substr(0, colon));
  if (!host) {
    return fail("\"{}\" has no host that can be read; write an address or a name, such as 127.0.0.1:8080 or [::1]:8080", text);
  }
  const auto port = parse_port(rest.substr(colon + 1));
  if (use == Use::connect && port.value_or(0) == 0)
    return fail("\"{}\" has no port in 1..65535; write the one it listens on", text);
  if (!port) return fail("\"{}\" has no port in 0..65535; 0 or * takes any free one", text);
  return Endpoint{*std::move(host), *port};
}

KeyedEndpoint split_key(std::string_view endpoint) {
  const size_t mark = endpoint.find('#');
  if (mark == std::string_view::npos) return {std::string(endpoint), ""};
  return {std::string(endpoint.substr(0, mark)), std::string(endpoint.substr(mark + 1))};
}

}  // namespace slipstream
