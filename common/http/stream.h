// The socket of a client, with TLS on it or in clear. Connection and Outbox are the same for both.
//
// Everything runs on the server's thread. Handlers must keep the owner of the stream alive.
#pragma once

#include <utility>
#include <variant>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "common/http/tls_context.h"

namespace slipstream::http {

class Stream {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Stream(Socket socket, const Tls& tls) : stream_(std::in_place_type<Socket>, std::move(socket)) {
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
  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler handler) {
    std::visit([&](auto& stream) { stream.async_read_some(buffers, std::move(handler)); }, stream_);
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
  void close() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

 private:
  using TlsStream = boost::asio::ssl::stream<Socket>;
  std::variant<Socket, TlsStream> stream_;
};

}  // namespace slipstream::http
