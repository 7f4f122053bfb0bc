// The socket of a client, with TLS on it or in clear. Connection and Outbox are the same for both.
//
// Everything runs on the server's thread. Handlers must keep the owner of the stream alive.
#pragma once

#include <poll.h>

#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "common/http/tls_context.h"

namespace slipstream::http {

class Stream {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Stream(Socket socket, const Tls& tls) : stream_(std::in_place_type<Socket>, std::move(socket)) {
    boost::system::error_code ignored;
    this->socket().non_blocking(true, ignored);
    if (!tls) return;
    Socket taken = std::move(std::get<Socket>(stream_));
    stream_.emplace<TlsStream>(std::move(taken), tls.context()->ssl);
  }

  bool has_tls() const { return std::holds_alternative<TlsStream>(stream_); }
  Socket& socket() {  // under TLS, too
    if (auto* tls = std::get_if<TlsStream>(&stream_)) return tls->next_layer();
    return std::get<Socket>(stream_);
  }
  auto get_executor() { return socket().get_executor(); }

  // REQUIRES: has_tls(), and nothing was read or written yet.
  template <class Handler>
  void async_handshake(Handler handler) {
    std::get<TlsStream>(stream_).async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
  }
  // Calls handler(error, bytes) once something came; the bytes are valid during the call. A
  // connection in clear reads into `shared`, which all of them use, and so needs no memory while it
  // waits. One with TLS has a buffer of that size of its own.
  template <class Handler>
  void async_read(std::span<char> shared, Handler handler) {
    if (auto* tls = std::get_if<TlsStream>(&stream_)) {
      own_.resize(shared.size());
      tls->async_read_some(boost::asio::buffer(own_), [this, handler = std::move(handler)](Error error, size_t bytes) mutable {
        handler(error, std::string_view(own_.data(), bytes));
      });
      return;
    }
    socket().async_wait(Socket::wait_read, [this, shared, handler = std::move(handler)](Error error) mutable {
      const size_t bytes = error ? 0 : socket().read_some(boost::asio::buffer(shared.data(), shared.size()), error);
      if (error == boost::asio::error::would_block) return async_read(shared, std::move(handler));
      handler(error, std::string_view(shared.data(), bytes));
    });
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler handler) {
    std::visit([&](auto& stream) { stream.async_write_some(buffers, std::move(handler)); }, stream_);
  }
  // Tells the client that nothing more comes. It may still send. With TLS the handler is called
  // when the client has answered that, or with an error once the socket is closed; in clear it is
  // not.
  template <class Handler>
  void end_sending(Handler handler) {
    if (auto* tls = std::get_if<TlsStream>(&stream_)) return tls->async_shutdown(std::move(handler));
    boost::system::error_code ignored;
    socket().shutdown(Socket::shutdown_send, ignored);
  }
  // Whether the client's system refuses what is sent to it, or the connection has failed.
  bool was_reset() {
    pollfd errors = {.fd = socket().native_handle(), .events = 0, .revents = 0};
    return ::poll(&errors, 1, 0) == 1;
  }
  void close() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

 private:
  using TlsStream = boost::asio::ssl::stream<Socket>;
  using Error = boost::system::error_code;
  std::variant<Socket, TlsStream> stream_;
  std::vector<char> own_;  // with TLS: where it reads
};

}  // namespace slipstream::http
