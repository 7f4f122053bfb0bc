// What each connection of one socket makes libzmq hold, and which are to be cut for it.
// ZMQ_MAXMSGSIZE is per frame and ZMQ_RCVHWM counts whole messages, so a message that never ends
// grows without either noticing; but the kernel knows what it gave to libzmq, and we know what
// libzmq gave to us. Pure bookkeeping; not thread-safe. docs/design/adr/0006 has the figures.
//
//   1. Once the socket was found empty, what was taken before and not delivered is one unfinished
//      message, or ZMTP commands.
//   2. So a connection that delivered nothing while more than kUnfinishedBytesMax came of it sends
//      no message of ours.
//   3. A socket that is never empty is read in turns: a connection that is passed over has no whole
//      message there.
//   4. Whole messages that come faster than they are read have limits of their own, for one
//      connection and for all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace slipstream {

enum class CutReason { held, speechless, too_many, frames, revoked };

struct Cut {
  int fd = -1;
  uint64_t cookie = 0;  // the kernel's name of this connection: the number may be another's by now
  CutReason why = CutReason::held;
};

// What a frame takes on the wire, with ZMTP's head.
inline constexpr size_t wire_bytes_of(size_t frame_bytes) { return frame_bytes + (frame_bytes > 255 ? 9 : 2); }

class ConnectionWatch {
 public:
  using Time = std::chrono::microseconds;  // of any steady clock
  // Bytes of this connection that libzmq has taken from the kernel since it began; nullopt: it is
  // gone.
  using Taken = std::function<std::optional<uint64_t>(int fd)>;
  enum class Side { bound, connecting };  // those we connect to may be silent, and are as many as we like

  static constexpr Time kPeriod{20'000};

  explicit ConnectionWatch(Side side) : side_(side) {}

  // As the socket's monitor says, in its order.
  void opened(int fd, uint64_t cookie);
  void closed(int fd) { connections_.erase(fd); }
  size_t open() const { return connections_.size(); }

  void delivered(int fd, size_t wire_bytes);  // one message was read, its frames together so large (wire_bytes_of)
  void heard(int fd);                         // it was one of ours
  void emptied() { emptied_ = true; }         // the socket has no more now

  // A round: read() when due, after the monitor's news; then messages are read from the socket;
  // then judge(). A round lasts until the socket was empty, or everybody had a turn.
  bool due(Time now) const { return !reading_ && !connections_.empty() && now - read_at_ >= kPeriod; }
  void read(Time now, const Taken& taken);
  // Each connection once.
  std::vector<Cut> judge();
  std::optional<Cut> cut(int fd, CutReason why);  // for a reason that the caller saw; nullopt: it is gone, or cut

 private:
  struct Connection {
    uint64_t cookie = 0, order = 0;
    uint64_t taken = 0, delivered_then = 0;       // at this round's reading
    uint64_t delivered = 0;                       // by now, with ZMTP's framing
    uint64_t base_taken = 0, base_delivered = 0;  // when all that was whole had been delivered
    bool heard = false, cut = false;
    Time speechless{};
  };
  using Entry = std::map<int, Connection>::value_type;

  static Cut cut(Entry& entry, CutReason why);
  void judge_held(std::vector<Cut>& cuts);
  void judge_numbers(std::vector<Cut>& cuts);

  const Side side_;
  std::map<int, Connection> connections_;  // by file descriptor
  uint64_t orders_ = 0;
  Time read_at_ = -kPeriod;
  bool reading_ = false;  // a round is on
  bool emptied_ = false;  // in this round
  size_t turns_ = 0;      // messages read in this round
};

}  // namespace slipstream
