// The address of a socket, and the parser of its text.
//
//   127.0.0.1:8080            an HTTP address
//   tcp://127.0.0.1:7300      an endpoint between processes
//   tcp://db_1:7300#router    an endpoint whose process has the key named "router"
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
  std::string host;  // parse_endpoint() turns "localhost" into 127.0.0.1
  uint16_t port = 0;
  bool loopback() const;        // the host is an address in 127.0.0.0/8: no other machine can reach it
  std::string address() const;  // "host:port"
  std::string tcp() const;      // "tcp://host:port"; port 0 is written "*", which ZeroMQ expects
  bool operator==(const Endpoint&) const = default;
};

// What the endpoint is for. An endpoint to connect to must have a port in [1, 65535].
enum class Use { listen, connect };

// Parses "host:port", with or without "tcp://" before it and without a key. The host is an IPv4
// address or a name of letters, digits, '.', '-' and '_'.
//
// Errors: the sentence says what is wrong and shows the right form.
Result<Endpoint> parse_endpoint(std::string_view text, Use use = Use::listen);

struct KeyedEndpoint {
  std::string endpoint;  // the text before the '#'
  std::string key;       // the name of the key (common/keys) that the process there must have; empty: no '#'
};

// Splits at the first '#'. It does not check either part.
KeyedEndpoint split_key(std::string_view endpoint);

}  // namespace slipstream
