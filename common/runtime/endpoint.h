// Where a link begins or ends: tcp://127.0.0.1:PORT, or with keys tcp://HOST:PORT#NAME, where NAME is the key that the process
// there must have (common/keys). Without keys messages travel in clear, so only over loopback.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

struct KeyedEndpoint {
  std::string endpoint;  // as ZeroMQ has it
  std::string key;       // its name; empty: none was given
};
KeyedEndpoint split_key(std::string_view endpoint);

// To listen on; port 0 or * means any free one.
Result<void> check_bind_endpoint(std::string_view endpoint, bool keyed);

// To connect to. Endpoints also come from peers: nothing but TCP passes, and without keys only to this host.
Result<void> check_connect_endpoint(std::string_view endpoint, bool keyed);

}  // namespace slipstream
