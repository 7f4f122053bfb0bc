// Frames over ZeroMQ and TCP: one bound ROUTER socket for those who connect to us, one DEALER
// socket for each peer that we connect to (a hostile one can be cut without touching the rest). The
// envelope and every setting: docs/design/WIRE.md.
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
  std::optional<std::string> bind;       // tcp://127.0.0.1:PORT, port 0: any free one; beyond this host only with keys
  std::optional<Keys> keys = {};         // then every link speaks CURVE, with enrolled peers only
  std::vector<std::string> admits = {};  // roles whose keys may connect to us
};

class ZmqTransport final : public Transport {
 public:
  // Refuses to listen beyond this host without keys, and says so.
  static Result<std::unique_ptr<ZmqTransport>> open(const ZmqOptions& options);
  ~ZmqTransport() override;

  std::string bound_endpoint() const;  // with the port that was found; empty: not bound

  // An endpoint that is none of ours (allowed_endpoint.h) gives Malformed for that peer.
  void connect(Peer peer, const std::string& endpoint) override;
  // An incoming peer is ignored until it connects anew.
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
