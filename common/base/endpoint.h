// The address of a socket, and the parser of its text.
//
//   127.0.0.1:8080            an HTTP address
//   [::1]:8080                an HTTP address of IPv6
//   tcp://127.0.0.1:7300      an endpoint between processes
//   tcp://db_1:7300#router    an endpoint whose process has the key named "router"
//   dns://routers:7300        a name in DNS: each address that it has is an endpoint with this port
//
// Port 0 or "*" stands for any free port. No other code parses host and port: settings, transport
// and the `slipstream` command accept the same endpoints because they share this parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

struct Endpoint {
  // Without brackets. parse_endpoint() turns "localhost" into 127.0.0.1 and an IPv6 address into
  // its canonical text, so that two spellings of one address are equal.
  std::string host;
  uint16_t port = 0;
  bool ipv6() const;            // the host is an IPv6 address
  bool loopback() const;        // the host is in 127.0.0.0/8 or is ::1: no other machine can reach it
  bool every_address() const;   // the host is 0.0.0.0 or ::, which stands for all addresses of this machine
  std::string address() const;  // "host:port", or "[host]:port" for IPv6
  std::string tcp() const;      // "tcp://" and the address; port 0 is written "*", which ZeroMQ expects
  bool operator==(const Endpoint&) const = default;
};

// What the endpoint is for. An endpoint to connect to must have a port in [1, 65535].
enum class Use { listen, connect };

// Parses "host:port", with or without "tcp://" before it and without a key. The host is an IPv4
// address, an IPv6 address in brackets (without a zone such as %eth0), or a name of letters,
// digits, '.', '-' and '_'.
//
// Errors: the sentence says what is wrong and shows the right form.
Result<Endpoint> parse_endpoint(std::string_view text, Use use = Use::listen);

// Whether it is a name that stands for several endpoints, and its "host:port" (as it is, and with
// its key). parse_endpoint() refuses the whole text and takes the rest.
inline constexpr std::string_view kNameScheme = "dns://";
inline bool is_name(std::string_view router) { return router.starts_with(kNameScheme); }
inline std::string_view without_name_scheme(std::string_view name) { return name.substr(kNameScheme.size()); }

struct KeyedEndpoint {
  std::string endpoint;  // the text before the '#'
  std::string key;       // the name of the key (common/keys) that the process there must have; empty: no '#'
};

// Splits at the first '#'. It does not check either part.
KeyedEndpoint split_key(std::string_view endpoint);

}  // namespace slipstream
