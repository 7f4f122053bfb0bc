// Decides which endpoints a transport may bind or connect to:
//
//   without keys    tcp://127.0.0.1:PORT    messages are in clear, so they must not leave this host
//   with keys       tcp://HOST:PORT         every link is encrypted
//
// The settings check their endpoints too, but a peer's messages also carry endpoints, so the
// transport checks every one of them.
#pragma once

#include <string_view>

#include "common/base/endpoint.h"
#include "common/base/result.h"

namespace slipstream {

// endpoint: without the "#NAME" of a key (split_key removes it). keyed: this process has keys.
// Errors say what to write instead.
Result<void> check_allowed(std::string_view endpoint, Use use, bool keyed);

}  // namespace slipstream
