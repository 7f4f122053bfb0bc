// Frames between processes, whatever carries them: ZeroMQ (zmq/zmq_transport.h) or memory
// (memory_transport.h, the same actors in one process). Owned and called by the loop's thread,
// except wake().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/limits.h"
#include "common/messages/boundary.h"

namespace slipstream {

struct Frame {
  Boundary boundary = Boundary::control;
  std::vector<std::byte> bytes;
};
struct FrameFrom {
  Peer peer;
  Frame frame;
};
using TransportEvent = std::variant<FrameFrom, PeerUp, PeerDown, Malformed>;

struct TransportCounters {
  uint64_t sent = 0, received = 0;  // frames
  uint64_t sent_bytes = 0, received_bytes = 0;
  uint64_t dropped_full = 0;  // a peer's queue was full
  uint64_t dropped_gone = 0;  // nobody there
  uint64_t malformed = 0;     // envelope: boundary, version or size
  uint64_t cut_held = 0, cut_speechless = 0, cut_too_many = 0, cut_frames = 0,
           cut_revoked = 0;                                                 // connections: zmq/connection_watch.h
  uint64_t refused_keys = 0, refused_protocol = 0, refused_unfinished = 0;  // handshakes, of both directions
  uint64_t connections = 0;                                                 // open now, of those that connected to us
};

inline constexpr size_t frame_bytes_max(Boundary boundary) {
  return boundary == Boundary::draft ? kDraftFrameBytesMax : kControlFrameBytesMax;
}

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void connect(Peer peer, const std::string& endpoint) = 0;  // reconnects until disconnect()
  virtual void disconnect(Peer peer) = 0;                            // outgoing or incoming; gives no PeerDown
  virtual void send(Peer peer, Frame frame) = 0;  // never blocks; what cannot be queued is dropped and counted
  // The next event; waits at most `wait` for one, or until wake(). A peer that we connect to is up
  // when the link stands; one that connected to us when its first frame came, and down when its
  // connection ends.
  virtual std::optional<TransportEvent> next(std::chrono::microseconds wait) = 0;
  // Thread-safe. The next() that waits, or else the next one that would, returns early, once. A
  // look without waiting does not use it up: what was posted before the wake may have been missed
  // by the turn that looks.
  virtual void wake() = 0;
  virtual void close(std::chrono::milliseconds linger) = 0;  // the last call: what was sent has this long to leave
  virtual const TransportCounters& counters() const = 0;
};

}  // namespace slipstream
