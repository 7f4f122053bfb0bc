// Which endpoints a transport binds or connects to: tcp://127.0.0.1:PORT, and with keys
// tcp://HOST:PORT. Without keys messages travel in clear, so they stay on this host. Endpoints also
// come from peers, so the transport checks what the settings have checked before.
#pragma once

#include <string_view>

#include "common/base/endpoint.h"
#include "common/base/result.h"

namespace slipstream {

// endpoint: without the name of a key (split_key). keyed: this process has keys. Errors say what to
// write instead.
Result<void> check_allowed(std::string_view endpoint, Use use, bool keyed);

}  // namespace slipstream
