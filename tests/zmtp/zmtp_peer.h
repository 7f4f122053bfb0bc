// A peer that speaks ZeroMQ's wire protocol (ZMTP 3.0, NULL mechanism) by hand over one TCP
// connection. libzmq cannot produce some of the input that the tests need: messages that never end,
// handshakes that stop half way, a socket that is never read. All calls block, for at most
// kZmtpWait.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipstream {

inline constexpr std::chrono::seconds kZmtpWait{20};

class ZmtpPeer {
 public:
  // Connects to 127.0.0.1 as a DEALER and completes the handshake. Throws if nothing listens or the
  // handshake fails.
  static ZmtpPeer connect(uint16_t port);
  static ZmtpPeer connect_silently(uint16_t port);  // only the TCP connection
  ~ZmtpPeer();
  ZmtpPeer(ZmtpPeer&& other) noexcept;
  ZmtpPeer& operator=(ZmtpPeer&&) = delete;

  // Sends raw bytes. False: the other side closed the connection, or did not read for kZmtpWait.
  bool send(std::string_view bytes) const;
  bool ended() const;  // waits for the other side's end; drops what arrives before it

 private:
  friend class ZmtpListener;
  explicit ZmtpPeer(int fd) : fd_(fd) {}
  void shake_hands(std::string_view socket_type) const;
  int fd_;
};

// The other direction: accepts the connection of a DEALER, as a ROUTER.
class ZmtpListener {
 public:
  ZmtpListener();  // 127.0.0.1, any free port
  ~ZmtpListener();
  ZmtpListener(const ZmtpListener&) = delete;
  ZmtpListener& operator=(const ZmtpListener&) = delete;
  uint16_t port() const { return port_; }
  ZmtpPeer accept() const;                                                      // completes the handshake
  std::optional<ZmtpPeer> accept_within(std::chrono::milliseconds wait) const;  // nullopt: no connection, or no handshake

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

std::string zmtp_frame(std::string_view body, bool more);
// Returns frames of `frame_bytes` bytes, each flagged "more follows": repeated, they form an
// endless message.
std::string endless_part(size_t frame_bytes);

}  // namespace slipstream
