// The writing side of a connection. It sends bytes in order and at once. While a write is pending,
// further bytes gather, and the next write sends them together. Everything runs on the server's
// thread, except unsent().
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "common/http/stream.h"

namespace slipstream::http {

class Outbox {
 public:
  // Why a series of writes ended: everything is sent; the socket failed; the client took no byte
  // for the time `stall`.
  enum class End { empty, failed, stalled };

  // on_end may be called many times. It is never called from within flush().
  Outbox(Stream& stream, std::chrono::milliseconds stall, std::function<void(End)> on_end);

  void put(std::string_view bytes);  // appends; flush() sends
  // owner: owns this outbox and the stream; it is kept alive until the bytes are sent.
  void flush(std::shared_ptr<void> owner);
  bool idle() const { return !writing_ && waiting_.empty(); }  // everything is sent: on_end will not be called
  void shrink();                                               // gives back its memory, if everything is sent
  void cancel();                                               // call it after closing the stream: no on_end follows

  // Bytes that the socket has not taken yet. Thread-safe: Exchange::write adds its bytes before
  // they reach put().
  std::atomic<size_t>& unsent() { return unsent_; }

 private:
  void on_written(std::shared_ptr<void> owner, boost::system::error_code error, size_t bytes);
  void watch_stall(std::shared_ptr<void> owner);
  void await_deadline(std::shared_ptr<void> owner);

  Stream& stream_;
  const std::chrono::milliseconds stall_;
  const std::function<void(End)> on_end_;
  using Clock = boost::asio::steady_timer::clock_type;
  boost::asio::steady_timer timer_;
  Clock::time_point deadline_;  // of the newest write, for any byte
  bool watching_ = false;       // a wait for the timer is pending
  std::string waiting_;         // to be sent after sending_
  std::string sending_;         // must not change while a write is pending
  size_t sent_ = 0;             // bytes of sending_ that the socket has taken
  bool writing_ = false;        // a write is pending
  bool cancelled_ = false;
  std::atomic<size_t> unsent_{0};
};

}  // namespace slipstream::http
