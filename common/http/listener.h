// Accepts a server's connections. Everything runs on the server's thread, except open(), which is
// called before the loop runs, and port().
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/http/server_state.h"

namespace slipstream::http {

class Listener : public std::enable_shared_from_this<Listener> {
 public:
  explicit Listener(std::shared_ptr<ServerState> state);
  // port 0: any free one. Errors: the address is not an IP address, or the port is in use.
  Result<void> open(const std::string& address, uint16_t port);
  void accept();
  // Handshakes under way are let in for limits.handshake, and no other client. Idle connections
  // close soon, the others after their answer.
  void keep_no_connection();
  void finish();
  void close();  // accepts no more and closes all connections at once
  uint16_t port() const { return port_; }

 private:
  void on_accept(boost::system::error_code error, boost::asio::ip::tcp::socket socket);
  void take(boost::asio::ip::tcp::socket socket);
  void refuse_at_once(boost::asio::ip::tcp::socket socket);
  void accept_the_last();
  void stop_accepting();

  const std::shared_ptr<ServerState> state_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;           // after a failed accept
  boost::asio::steady_timer last_handshake_;  // after finish()
  bool closed_ = false;                       // close() was called
  uint16_t port_ = 0;
};

}  // namespace slipstream::http
