// The interface through which an actor exchanges frames with its peers. ZeroMQ carries them between
// processes (zmq/zmq_transport.h), memory inside one (memory_transport.h). A transport is owned and
// called by the loop's thread, except wake(). No call but next() waits, and delivery is not
// guaranteed: frames that cannot be queued are dropped and counted.
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
  uint64_t dropped_full = 0;  // frames not sent: the peer's queue was full
  uint64_t dropped_gone = 0;  // frames not sent: the peer was not connected
  uint64_t malformed = 0;     // messages with a wrong envelope, number of frames or size
  // Connections that we cut, by CutReason (zmq/connection_watch.h).
  uint64_t cut_held = 0, cut_speechless = 0, cut_too_many = 0, cut_frames = 0, cut_revoked = 0;
  // Handshakes that failed, incoming and outgoing.
  uint64_t refused_keys = 0, refused_protocol = 0, refused_unfinished = 0;
  uint64_t connections = 0;  // incoming, open now
};

// The largest payload of one frame; larger ones are malformed.
inline constexpr size_t frame_bytes_max(Boundary boundary) {
  return boundary == Boundary::draft ? kDraftFrameBytesMax : kControlFrameBytesMax;
}

class Transport {
 public:
  virtual ~Transport() = default;
  // Opens a link to `endpoint`, and opens it again whenever it ends, until disconnect(). `peer` is
  // the caller's name for the link. REQUIRES: no link has this name.
  virtual void connect(Peer peer, const std::string& endpoint) = 0;
  // Ends a link of ours, or drops a peer that connected to us. Gives no PeerDown; events of this
  // peer that are queued here are dropped.
  virtual void disconnect(Peer peer) = 0;
  // Never blocks. A frame that cannot be queued is dropped and counted.
  virtual void send(Peer peer, Frame frame) = 0;

  // The next event. Waits for one until `wait` has passed or wake() is called; nullopt then.
  //   a peer that we connected to       PeerUp when the link is ready, PeerDown when it ends
  //   a peer that connected to us       PeerUp before its first frame, PeerDown when its link ends
  virtual std::optional<TransportEvent> next(std::chrono::microseconds wait) = 0;
  // Makes next() return early, once: the call that is waiting now, or else the next one that would
  // wait. A call with wait 0 does not use the wake-up, because the loop may have looked at its
  // inbox before the event behind this wake-up was posted. Thread-safe.
  virtual void wake() = 0;
  // The last call. Frames already queued have `linger` to leave.
  virtual void close(std::chrono::milliseconds linger) = 0;
  virtual const TransportCounters& counters() const = 0;
};

}  // namespace slipstream
