// The transport over ZeroMQ and TCP. One bound ROUTER socket serves all peers that connect to us.
// Each peer that we connect to has a DEALER socket of its own, so that a hostile one can be cut
// without touching the others. docs/design/WIRE.md describes the envelope and every setting.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/keys/keys.h"
#include "common/runtime/transport.h"

namespace slipstream {

struct ZmqOptions {
  Incarnation self = 0;                  // in [1, 2^63): runtime/incarnation.h
  std::optional<std::string> bind;       // tcp://HOST:PORT, with port 0 for any free one; nullopt: only connect
  std::optional<Keys> keys = {};         // if given, every link is encrypted and both sides must be enrolled
  std::vector<std::string> admits = {};  // roles whose keys may connect to us
};

class ZmqTransport final : public Transport {
 public:
  // Errors: an endpoint that is not allowed (allowed_endpoint.h: beyond this host only with keys),
  // or a port in use. REQUIRES: options.self is in [1, 2^63).
  static Result<std::unique_ptr<ZmqTransport>> open(const ZmqOptions& options);
  ~ZmqTransport() override;

  std::string bound_endpoint() const;  // with the real port; empty: not bound

  // An endpoint that is not allowed (allowed_endpoint.h), or a key that is not enrolled, gives
  // Malformed for that peer.
  void connect(Peer peer, const std::string& endpoint) override;
  // A peer that connected to us keeps its connection and is ignored until it connects again.
  void disconnect(Peer peer) override;
  void send(Peer peer, Frame frame) override;
  std::optional<TransportEvent> next(std::chrono::microseconds wait) override;
  void wake() override;
  void close(std::chrono::milliseconds linger) override;
  const TransportCounters& counters() const override;

 private:
  struct State;
  explicit ZmqTransport(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
