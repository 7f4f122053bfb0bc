// Many streams of one router, read by one thread with as little work as can be, to measure the
// router and not its clients. One thread only.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"

namespace slipstream {

// Connects to the loopback port. receive_buffer_bytes: 0 leaves it to the system.
inline int connect_to(uint16_t port, int receive_buffer_bytes = 0) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (receive_buffer_bytes > 0) ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "cannot connect");
  return socket;
}

inline void send_whole(int socket, std::string_view bytes) {
  CHECK(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()), "cannot send");
}

// Connections that are closed with this object.
class Crowd {
 public:
  Crowd() = default;
  ~Crowd() {
    for (const int socket : sockets_) ::close(socket);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  void add(int socket) { sockets_.push_back(socket); }

 private:
  std::vector<int> sockets_;
};

class HttpStreams {
 public:
  // Each of `count` streams asks `request` again when its answer ends.
  HttpStreams(uint16_t port, std::string request, int count) : request_(std::move(request)), epoll_(::epoll_create1(0)) {
    for (int i = 0; i < count; ++i) {
      streams_.push_back({.socket = connect_to(port)});
      epoll_event event{.events = EPOLLIN, .data = {.u64 = streams_.size() - 1}};
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, streams_.back().socket, &event);
      send_whole(streams_.back().socket, request_);
    }
  }
  ~HttpStreams() {
    for (const Stream& stream : streams_) ::close(stream.socket);
    ::close(epoll_);
  }
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;

  void read_for(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    std::vector<char> bytes(256 * 1024);
    epoll_event events[64];
    while (Clock::now() < end) {
      const int ready = ::epoll_wait(epoll_, events, 64, 50);
      for (int i = 0; i < ready; ++i) read(streams_[events[i].data.u64], bytes);
    }
  }
  void forget() {  // what was counted so far
    events_ = 0;
    gaps_us_.clear();
  }
  uint64_t events() const { return events_; }                     // server-sent events: one a token, and two or three an answer
  const std::vector<float>& gaps_us() const { return gaps_us_; }  // between two reads of one stream with an event

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::string_view kLastChunk = "0\r\n\r\n";
  struct Stream {
    int socket = -1;
    Clock::time_point newest{};
  };

  void read(Stream& stream, std::vector<char>& bytes) {
    const ssize_t size = ::recv(stream.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    CHECK(size > 0, "the router closed a stream");
    const std::string_view text(bytes.data(), static_cast<size_t>(size));
    uint64_t events = 0;
    for (size_t at = text.find("data: "); at != text.npos; at = text.find("data: ", at + 6)) ++events;
    const auto now = Clock::now();
    if (events > 0) {
      if (stream.newest != Clock::time_point{}) {
        gaps_us_.push_back(std::chrono::duration<float, std::micro>(now - stream.newest).count());
      }
      stream.newest = now;
    }
    events_ += events;
    if (!text.ends_with("\r\n0\r\n\r\n") && text != kLastChunk) return;
    stream.newest = {};
    send_whole(stream.socket, request_);
  }

  const std::string request_;
  const int epoll_;
  std::vector<Stream> streams_;
  uint64_t events_ = 0;
  std::vector<float> gaps_us_;
};

}  // namespace slipstream
