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

}  // namespace

// inet_pton is used because it refuses leading zeros. A resolver reads 0127.0.0.1 as octal, which
// is 87.0.0.1 and thus another machine.
bool Endpoint::loopback() const {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

std::string Endpoint::address() const { return fmt::format("{}:{}", host, port); }

std::string Endpoint::tcp() const {
  return port == 0 ? fmt::format("tcp://{}:*", host) : fmt::format("tcp://{}:{}", host, port);
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
  const std::string_view host = rest.substr(0, colon);
  if (host.empty() || !std::ranges::all_of(host, is_host_character)) {
    return fail("\"{}\" has no host that can be read; write an IPv4 address or a name, such as 127.0.0.1:8080", text);
  }
  const auto port = parse_port(rest.substr(colon + 1));
  if (use == Use::connect && port.value_or(0) == 0)
    return fail("\"{}\" has no port in 1..65535; write the one it listens on", text);
  if (!port) return fail("\"{}\" has no port in 0..65535; 0 or * takes any free one", text);
  return Endpoint{host == "localhost" ? "127.0.0.1" : std::string(host), *port};
}

KeyedEndpoint split_key(std::string_view endpoint) {
  const size_t mark = endpoint.find('#');
  if (mark == std::string_view::npos) return {std::string(endpoint), ""};
  return {std::string(endpoint.substr(0, mark)), std::string(endpoint.substr(mark + 1))};
}

}  // namespace slipstream
