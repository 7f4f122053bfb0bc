// Where a socket is: "127.0.0.1:8080" for HTTP, "tcp://127.0.0.1:7300" between processes, and
// between processes that have keys "tcp://db_1:7300#router". Port 0 or "*": any free one. This is
// the only parser of such text: the settings, the transport and the command all use it, so that an
// endpoint that one of them accepts is an endpoint to the others as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

struct Endpoint {
  std::string host;  // "localhost" is turned into 127.0.0.1
  uint16_t port = 0;
  bool loopback() const;        // 127.0.0.0/8: nobody on another machine can reach it
  std::string address() const;  // "host:port"
  std::string tcp() const;      // "tcp://host:port"; port 0 as "*", as ZeroMQ has it
  bool operator==(const Endpoint&) const = default;
};

enum class Use { listen, connect };  // to connect takes a port of its own

// "host:port", with or without "tcp://". The host is an IPv4 address or a name of letters, digits,
// '.', '-' and '_'. Errors name what is wrong and show the form.
Result<Endpoint> parse_endpoint(std::string_view text, Use use = Use::listen);

struct KeyedEndpoint {
  std::string endpoint;  // what comes before the '#'
  std::string key;       // the name of the key that the process there must have (common/keys); empty: none was given
};
KeyedEndpoint split_key(std::string_view endpoint);

}  // namespace slipstream
