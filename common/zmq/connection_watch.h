// Estimates how many bytes libzmq holds for each connection of one socket, and says which
// connections to cut because they hold too many.
//
// Why: ZMQ_MAXMSGSIZE limits one frame and ZMQ_RCVHWM counts whole messages, so a message of
// endless frames grows without hitting either. But the kernel knows how many bytes it gave to
// libzmq ("taken"), and we know how many libzmq gave to us ("delivered"):
//
//   held = taken - delivered      both counted since the connection's last settled point, see 1
//
//   1. After the socket was found empty, libzmq holds no whole message. What a connection then
//      holds is one unfinished message (or ZMTP commands). This point is "settled".
//   2. A settled connection that holds more than kUnfinishedBytesMax is sending a message larger
//      than any of ours: cut it.
//   3. A flooded socket may never be empty. libzmq reads its connections in turns, so a connection
//      that delivered nothing during enough turns for all has no whole message there: it counts as
//      settled too.
//   4. A connection that is not settled may hold kHeldBytesMax. All connections together may hold
//      kHeldBytesTotalMax; beyond that, those that hold most are cut first.
//
// On the side that bound the socket, the watch also limits the number of connections
// (kConnectionsMax) and how long one may stay without a message (kSpeechlessMs). Pure bookkeeping;
// not thread-safe. docs/design/adr/0006 has the measurements.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace slipstream {

enum class CutReason {
  held,        // more bytes than libzmq may hold for it
  speechless,  // no message within kSpeechlessMs
  too_many,    // over kConnectionsMax
  frames,      // a message of more than kFramesPerMessageMax frames
  revoked      // its key is not enrolled any more
};

struct Cut {
  int fd = -1;
  uint64_t cookie = 0;  // identifies the connection to the kernel, as the fd may belong to another one by now
  CutReason why = CutReason::held;
};

// The bytes of one frame on the wire, ZMTP's frame header included.
inline constexpr size_t wire_bytes_of(size_t frame_bytes) { return frame_bytes + (frame_bytes > 255 ? 9 : 2); }

class ConnectionWatch {
 public:
  using Time = std::chrono::microseconds;  // of any steady clock
  // The bytes that libzmq has taken from the kernel since this connection began; nullopt: the
  // connection is gone.
  using Taken = std::function<std::optional<uint64_t>(int fd)>;
  // `connecting` sockets have no limits of number and silence: we chose those peers ourselves.
  enum class Side { bound, connecting };

  static constexpr Time kPeriod{20'000};  // between two rounds

  explicit ConnectionWatch(Side side) : side_(side) {}

  // Events of the socket's monitor, in the order in which it gave them.
  void opened(int fd, uint64_t cookie);
  void closed(int fd) { connections_.erase(fd); }
  size_t open() const { return connections_.size(); }

  // What the caller read from the socket.
  void delivered(int fd, size_t wire_bytes);  // one message; wire_bytes: wire_bytes_of all its frames
  void heard(int fd);                         // that message was well-formed
  void emptied() { emptied_ = true; }         // the socket holds no more messages now

  // A round, about every kPeriod:
  //   1. Report the monitor's events. If due(), call read(): it takes the kernel's counters.
  //   2. Read messages from the socket, and report them.
  //   3. Call check(): it returns the connections to cut, each at most once in its life.
  // Steps 2 and 3 repeat until the socket was empty or every connection had its turns; until then
  // check() returns nothing.
  bool due(Time now) const { return !reading_ && !connections_.empty() && now - read_at_ >= kPeriod; }
  void read(Time now, const Taken& taken);
  std::vector<Cut> check();
  // Marks a connection as cut, for a reason that the caller found. nullopt: it is gone or cut.
  std::optional<Cut> cut(int fd, CutReason why);

 private:
  struct Connection {
    uint64_t cookie = 0, order = 0;               // order: of opening
    uint64_t taken = 0, delivered_then = 0;       // bytes, at this round's read()
    uint64_t delivered = 0;                       // bytes by now, with ZMTP's framing
    uint64_t base_taken = 0, base_delivered = 0;  // bytes, at the last settled point
    bool heard = false, cut = false;
    Time speechless{};  // time without a message, as far as we were awake
  };
  using Entry = std::map<int, Connection>::value_type;

  static Cut cut(Entry& entry, CutReason why);
  void check_held(std::vector<Cut>& cuts);
  void check_numbers(std::vector<Cut>& cuts);

  const Side side_;
  std::map<int, Connection> connections_;  // by file descriptor
  uint64_t orders_ = 0;
  Time read_at_ = -kPeriod;

  // The round under way.
  bool reading_ = false;  // read() was called, check() has not ended the round
  bool emptied_ = false;  // the socket was found empty
  size_t turns_ = 0;      // messages read
};

}  // namespace slipstream
