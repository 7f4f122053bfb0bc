// The sockets of a transport with all their settings (docs/design/WIRE.md).
#pragma once

#include <optional>
#include <string>

#include "common/keys/keys.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {

inline constexpr int kHandshakeMs = 2000;  // at most
inline constexpr int kReconnectMs = 20;
inline constexpr int kReconnectMaxMs = 2000;
inline constexpr int kConnectAnewMs = 5000;  // of silence after the end of a link: libzmq may have given up for good

// For those who connect to us. With keys it speaks CURVE only; a ZapAuthenticator says with whom.
zmq::Socket make_router(const zmq::Context& context, const std::optional<Keys>& keys);

// For one peer that we connect to. With keys the peer must have the enrolled key of this name.
// Errors: no key where one is wanted, one where there are none, one that is not enrolled.
Result<zmq::Socket> make_dealer(const zmq::Context& context, const std::optional<Keys>& keys, const std::string& peers_key);

}  // namespace slipstream
