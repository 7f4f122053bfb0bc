// Where a server is, as a user writes it: http://HOST:PORT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream::command {

struct ServerUrl {
  std::string host;
  uint16_t port = 80;
  static Result<ServerUrl> parse(std::string_view text);
};

}  // namespace slipstream::command
