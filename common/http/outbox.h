// The writing side of a connection: bytes go out at once and in order; while some are on their way,
// later ones gather and follow in one piece. On the server's thread, except unsent().
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace slipstream::http {

class Outbox {
 public:
  enum class End { empty, failed, stalled };  // all is out; the socket is dead; not a byte went out for `stall`

  // on_end may be called many times; it is never called from within flush().
  Outbox(boost::asio::ip::tcp::socket& socket, std::chrono::milliseconds stall, std::function<void(End)> on_end);

  void put(std::string_view bytes);
  void flush(std::shared_ptr<void> owner);  // the owner of this and of the socket stays alive until the bytes are out
  bool idle() const { return !writing_ && waiting_.empty(); }  // all is out already: no on_end is to come
  void cancel();                                               // after the socket was closed: nothing is called any more

  // Bytes that the socket has not taken yet. Thread-safe; Exchange::write adds to it before the
  // bytes reach put().
  std::atomic<size_t>& unsent() { return unsent_; }

 private:
  void on_written(std::shared_ptr<void> owner, boost::system::error_code error, size_t bytes);
  void watch_stall(std::shared_ptr<void> owner);

  boost::asio::ip::tcp::socket& socket_;
  const std::chrono::milliseconds stall_;
  const std::function<void(End)> on_end_;
  boost::asio::steady_timer timer_;
  std::string waiting_;  // goes out after sending_
  std::string sending_;
  size_t sent_ = 0;  // of sending_
  bool writing_ = false;
  bool cancelled_ = false;
  std::atomic<size_t> unsent_{0};
};

}  // namespace slipstream::http
