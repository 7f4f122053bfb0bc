// A transport that can also send what the product's own never would: any frames at all, envelope
// included. For hostile peers only. Links to routers are DEALER sockets, as in zmq/zmq_transport.h,
// but nobody watches them: a Hello is repeated until it arrives.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/runtime/transport.h"
#include "common/wire/codec.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {

using Parcel = std::vector<wire::Bytes>;  // all frames of one ZeroMQ message

class RawTransport final : public Transport {
 public:
  static Result<std::unique_ptr<RawTransport>> open(Incarnation self, const std::string& bind);
  ~RawTransport() override;
  RawTransport(const RawTransport&) = delete;
  RawTransport& operator=(const RawTransport&) = delete;

  std::string bound_endpoint() const { return router_.last_endpoint(); }
  void send_parcel(Peer incoming, const Parcel& parcel);

  void connect(Peer peer, const std::string& endpoint) override;
  void disconnect(Peer peer) override { links_.erase(peer); }
  void send(Peer peer, Frame frame) override;
  std::optional<TransportEvent> next(std::chrono::microseconds wait) override;
  void wake() override;
  void close(std::chrono::milliseconds linger) override;
  const TransportCounters& counters() const override { return counters_; }

 private:
  explicit RawTransport(Incarnation self);
  void wait_for_frames(std::chrono::microseconds wait);
  void receive_all();
  void take(Peer peer, const wire::Bytes& head, wire::Bytes payload);

  Incarnation self_;
  zmq::Context context_;  // before the sockets: it ends after them
  int wakeup_;
  zmq::Socket router_;
  std::map<Peer, zmq::Socket> links_;
  std::map<Peer, std::string> connections_;  // of incoming peers
  std::deque<TransportEvent> events_;
  TransportCounters counters_;
};

}  // namespace slipstream
