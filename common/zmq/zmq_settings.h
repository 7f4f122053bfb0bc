// Makes the sockets of a transport, with all their settings (docs/design/WIRE.md, 1).
#pragma once

#include <optional>
#include <string>

#include "common/keys/keys.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {

inline constexpr int kHandshakeMs = 2000;  // longest handshake
inline constexpr int kReconnectMs = 20;    // first wait before dialing again; it doubles
inline constexpr int kReconnectMaxMs = 2000;
inline constexpr int kConnectAnewMs = 5000;  // from the end of a link to a new socket: libzmq may have given up

// The socket that peers connect to. With keys it accepts CURVE connections only, and a
// ZapAuthenticator decides which.
zmq::Socket make_router(const zmq::Context& context, const std::optional<Keys>& keys);

// The socket of one peer that we connect to. With keys, the peer must have the key that is enrolled
// as `peers_key`. Errors: `peers_key` is not enrolled; it is given and this process has no keys; it
// is empty and this process has keys.
Result<zmq::Socket> make_dealer(const zmq::Context& context, const std::optional<Keys>& keys, const std::string& peers_key);

}  // namespace slipstream
