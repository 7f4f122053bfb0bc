// Where a socket is: "127.0.0.1:8080" for HTTP, "tcp://127.0.0.1:7300" between processes. Port 0 or "*": any free one.
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

// "host:port", with or without "tcp://". Errors name what is wrong and show the form.
Result<Endpoint> parse_endpoint(std::string_view text, Use use = Use::listen);

}  // namespace slipstream
