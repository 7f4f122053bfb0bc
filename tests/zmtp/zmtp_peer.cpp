#include "tests/zmtp/zmtp_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

namespace slipstream {
namespace {

constexpr size_t kGreetingBytes = 64;
constexpr size_t kPartBytes = 256 * 1024;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int tcp_socket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::runtime_error("no socket: raise the limit of open files");
  const timeval wait{.tv_sec = kZmtpWait.count(), .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  return fd;
}

std::string greeting() {
  std::string bytes = "\xff" + std::string(8, '\0') + "\x7f\x03" + std::string(1, '\0') + "NULL";
  bytes.resize(kGreetingBytes);
  return bytes;
}

std::string ready(std::string_view socket_type) {
  std::string body = "\x05READY\x0bSocket-Type";
  body += std::string(3, '\0') + static_cast<char>(socket_type.size()) + std::string(socket_type);
  return std::string{'\x04', static_cast<char>(body.size())} + body;
}

std::string receive(int fd, size_t bytes) {
  std::string received(bytes, '\0');
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = recv(fd, received.data() + at, bytes - at, 0);
    if (got <= 0) throw std::runtime_error("the handshake was not finished");
    at += static_cast<size_t>(got);
  }
  return received;
}

}  // namespace

ZmtpPeer::~ZmtpPeer() {
  if (fd_ >= 0) close(fd_);
}

ZmtpPeer::ZmtpPeer(ZmtpPeer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ZmtpPeer ZmtpPeer::connect(uint16_t port) {
  ZmtpPeer peer = connect_silently(port);
  peer.shake_hands("DEALER");
  return peer;
}

ZmtpPeer ZmtpPeer::connect_silently(uint16_t port) {
  ZmtpPeer peer(tcp_socket());
  const sockaddr_in address = loopback(port);
  if (::connect(peer.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("nobody listens");
  }
  return peer;
}

void ZmtpPeer::shake_hands(std::string_view socket_type) const {
  if (!send(greeting() + ready(socket_type))) throw std::runtime_error("cut in the handshake");
  receive(fd_, kGreetingBytes);
  receive(fd_, static_cast<uint8_t>(receive(fd_, 2)[1]));
}

bool ZmtpPeer::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    // A peer that closes with a full receive buffer leaves a window of zero. Only its FIN tells
    // that it is gone, and a blocking send() does not look for that; hence poll() for POLLRDHUP.
    pollfd ready{.fd = fd_, .events = POLLOUT | POLLRDHUP, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kZmtpWait).count())) <= 0) return false;
    if ((ready.revents & ~POLLOUT) != 0) return false;
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool ZmtpPeer::ended() const {
  char dropped[4096];
  const auto deadline = std::chrono::steady_clock::now() + kZmtpWait;
  while (std::chrono::steady_clock::now() < deadline) {
    const ssize_t got = recv(fd_, dropped, sizeof dropped, 0);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
    if (got < 0) return false;
  }
  return false;
}

ZmtpListener::ZmtpListener() : fd_(tcp_socket()) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd_, SOMAXCONN) != 0 ||
      getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  port_ = ntohs(address.sin_port);
}

ZmtpListener::~ZmtpListener() { close(fd_); }

ZmtpPeer ZmtpListener::accept() const {
  ZmtpPeer peer(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.fd_ < 0) throw std::runtime_error("nobody connects");
  const timeval wait{.tv_sec = kZmtpWait.count(), .tv_usec = 0};
  setsockopt(peer.fd_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  setsockopt(peer.fd_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  peer.shake_hands("ROUTER");
  return peer;
}

std::optional<ZmtpPeer> ZmtpListener::accept_within(std::chrono::milliseconds wait) const {
  pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return std::nullopt;
  try {
    return accept();
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::string zmtp_frame(std::string_view body, bool more) {
  std::string frame(1, static_cast<char>((more ? 1 : 0) | (body.size() > 255 ? 2 : 0)));
  for (int byte = body.size() > 255 ? 7 : 0; byte >= 0; --byte) frame += static_cast<char>(body.size() >> (8 * byte));
  return frame.append(body);
}

std::string endless_part(size_t frame_bytes) {
  const std::string frame = zmtp_frame(std::string(frame_bytes, 'x'), true);
  std::string part;
  do part += frame;
  while (part.size() < kPartBytes);
  return part;
}

}  // namespace slipstream
