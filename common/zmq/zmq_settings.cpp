#include "common/zmq/zmq_settings.h"

#include "common/base/limits.h"

namespace slipstream {
namespace {

// How each kind of silence is found (docs/design/adr/0005):
//   a process died               its connection ends at once
//   a process hangs              the actors notice: heartbeats, leases, deadlines
//   a machine or network died    TCP keep-alive, and the limit on unacknowledged data, below
// ZMQ_HEARTBEAT_IVL stays off: libzmq 4.3.4 aborts ("!_io_error" in stream_engine_base.cpp) when
// its heartbeat meets a connection that ended while our queue was full.
constexpr int kKeepAliveIdleSeconds = 3, kKeepAliveIntervalSeconds = 1, kKeepAliveProbes = 3;
constexpr int kUnackedMaxMs = 6000;
constexpr int kBacklog = 1024;  // connections not yet accepted; the kernel drops further ones, which try again after 1 s

zmq::Socket make_socket(const zmq::Context& context, int type) {
  zmq::Socket socket(context, type);
  socket.set(ZMQ_SNDHWM, kSocketHighWaterMessages);
  socket.set(ZMQ_RCVHWM, kSocketHighWaterMessages);
  socket.set(ZMQ_LINGER, 0);
  socket.set(ZMQ_MAXMSGSIZE, static_cast<int64_t>(kControlFrameBytesMax));
  socket.set(ZMQ_TCP_KEEPALIVE, 1);
  socket.set(ZMQ_TCP_KEEPALIVE_IDLE, kKeepAliveIdleSeconds);
  socket.set(ZMQ_TCP_KEEPALIVE_INTVL, kKeepAliveIntervalSeconds);
  socket.set(ZMQ_TCP_KEEPALIVE_CNT, kKeepAliveProbes);
  socket.set(ZMQ_TCP_MAXRT, kUnackedMaxMs);
  socket.set(ZMQ_HANDSHAKE_IVL, kHandshakeMs);
  return socket;
}

}  // namespace

zmq::Socket make_router(const zmq::Context& context, const std::optional<Keys>& keys) {
  zmq::Socket socket = make_socket(context, ZMQ_ROUTER);
  socket.set(ZMQ_BACKLOG, kBacklog);
  socket.set(ZMQ_ROUTER_MANDATORY, 1);
  if (keys) {
    socket.set(ZMQ_CURVE_SERVER, 1);
    socket.set(ZMQ_CURVE_SECRETKEY, keys->own.secret_key);
    socket.set(ZMQ_ZAP_DOMAIN, std::string("slipstream"));
  }
  return socket;
}

// ZMQ_IMMEDIATE stays off: with it, libzmq 4.3.4 aborts the process ("!_more" in fq.cpp) when a
// connection ends while its messages are being read. Without it, a message that was sent before the
// end of the connection was noticed may arrive after a reconnect (docs/design/WIRE.md, 1).
Result<zmq::Socket> make_dealer(const zmq::Context& context, const std::optional<Keys>& keys, const std::string& peers_key) {
  zmq::Socket socket = make_socket(context, ZMQ_DEALER);
  socket.set(ZMQ_RECONNECT_IVL, kReconnectMs);
  socket.set(ZMQ_RECONNECT_IVL_MAX, kReconnectMaxMs);
  if (!keys) {
    if (peers_key.empty()) return socket;
    return fail("the peer wants to be known by the key {}, and this process has no keys: give it --key and --peers", peers_key);
  }
  if (peers_key.empty())
    return fail("the peer names no key (tcp://host:port#NAME), so it runs without keys, and this process has some");
  const std::string* key = keys->enrolled.key_of(peers_key);
  if (key == nullptr) {
    return fail("the key \"{}\" is not enrolled in {}: put its .pub file there, or see why the peer has none", peers_key,
                keys->enrolled.folder().string());
  }
  socket.set(ZMQ_CURVE_SERVERKEY, *key);
  socket.set(ZMQ_CURVE_PUBLICKEY, keys->own.public_key);
  socket.set(ZMQ_CURVE_SECRETKEY, keys->own.secret_key);
  return socket;
}

}  // namespace slipstream
