// A peer that speaks ZeroMQ's wire protocol (ZMTP 3.0, NULL) by hand over one TCP connection, since
// libzmq is too polite for some of what the tests want to do: messages that never end, handshakes
// that stop half way, a socket that is never read. Everything blocks, for at most kZmtpWait.
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
  // To 127.0.0.1, as a DEALER with the handshake done; throws where nobody listens or the handshake
  // fails.
  static ZmtpPeer connect(uint16_t port);
  static ZmtpPeer connect_silently(uint16_t port);  // the TCP connection alone
  ~ZmtpPeer();
  ZmtpPeer(ZmtpPeer&& other) noexcept;
  ZmtpPeer& operator=(ZmtpPeer&&) = delete;

  // Bytes as they are; false: the other side has ended the connection, or does not read for so
  // long.
  bool send(std::string_view bytes) const;
  bool ended() const;  // waits for the other side's end and drops what comes before it

 private:
  friend class ZmtpListener;
  explicit ZmtpPeer(int fd) : fd_(fd) {}
  void shake_hands(std::string_view socket_type) const;
  int fd_;
};

// The other direction: somebody's DEALER connects here. As a ROUTER.
class ZmtpListener {
 public:
  ZmtpListener();  // 127.0.0.1, any free port
  ~ZmtpListener();
  ZmtpListener(const ZmtpListener&) = delete;
  ZmtpListener& operator=(const ZmtpListener&) = delete;
  uint16_t port() const { return port_; }
  ZmtpPeer accept() const;                                                      // with the handshake done
  std::optional<ZmtpPeer> accept_within(std::chrono::milliseconds wait) const;  // nullopt: nobody, or no handshake

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

std::string zmtp_frame(std::string_view body, bool more);
// Many frames, each with more to come, of so many bytes: what an endless message consists of.
std::string endless_part(size_t frame_bytes);

}  // namespace slipstream
