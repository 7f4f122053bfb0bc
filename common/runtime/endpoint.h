// Where a link begins or ends: tcp://127.0.0.1:PORT. Version 1 speaks in clear, so only over loopback; keys, and with them
// other hosts, come in a later version.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace slipstream {

// To listen on; port 0 or * means any free one.
Result<void> check_bind_endpoint(std::string_view endpoint);

// To connect to. Endpoints also come from peers: nothing but TCP to this host passes.
Result<void> check_connect_endpoint(std::string_view endpoint);

}  // namespace slipstream
