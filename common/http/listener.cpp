#include "common/http/listener.h"

#include <linux/filter.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include "common/base/endpoint.h"
#include "common/http/connection.h"

namespace slipstream::http {
namespace {

// After a failed accept, most likely for lack of file descriptors: the next one would fail as well.
constexpr std::chrono::milliseconds kAcceptPause{100};

constexpr uint32_t kTcpFlagsAt = 13;            // the byte of the TCP header with SYN; a socket's filter sees no IP header
constexpr uint32_t kWholePacket = 0xFFFF'FFFF;  // bytes that a filter lets through

std::string all_in_use(int64_t connections) {
  return fmt::format("all {} connections are in use; try again in a moment", connections);
}

}  // namespace

Listener::Listener(std::shared_ptr<ServerState> state)
    : state_(std::move(state)), acceptor_(state_->loop), pause_(state_->loop), last_handshake_(state_->loop) {}

Result<void> Listener::open(const std::string& address, uint16_t port) {
  namespace ip = boost::asio::ip;
  boost::system::error_code error;
  const ip::address where = ip::make_address(address, error);
  if (error) return fail("\"{}\" is not an IP address to listen on; write one such as 127.0.0.1", address);
  const ip::tcp::endpoint endpoint(where, port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(ip::tcp::acceptor::reuse_address(true), error);
  if (!error && where.is_v6()) acceptor_.set_option(ip::v6_only(!where.is_unspecified()), error);  // [::] takes IPv4, too
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(ip::tcp::acceptor::max_listen_connections, error);
  if (error == boost::asio::error::address_in_use) {
    return fail("port {} of {} is in use; stop what listens there, or choose another port (0: any free one)", port, address);
  }
  if (error) return fail("cannot listen on {} ({})", Endpoint{address, port}.address(), error.message());
  port_ = acceptor_.local_endpoint().port();
  return {};
}

void Listener::accept() {
  acceptor_.async_accept([self = shared_from_this()](boost::system::error_code error, boost::asio::ip::tcp::socket socket) {
    self->on_accept(error, std::move(socket));
  });
}

void Listener::on_accept(boost::system::error_code error, boost::asio::ip::tcp::socket socket) {
  if (!error && !closed_) take(std::move(socket));
  if (!acceptor_.is_open()) return;
  if (!error) return accept();
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([self = shared_from_this()](boost::system::error_code cancelled) {
    if (!cancelled && self->acceptor_.is_open()) self->accept();
  });
}

void Listener::take(boost::asio::ip::tcp::socket socket) {
  const auto limit = static_cast<size_t>(state_->limits.connections);
  bool full = state_->connections.load(std::memory_order_relaxed) >= limit;
  if (full) state_->connections_refused.fetch_add(1, std::memory_order_relaxed);
  // Make room by closing the connection that has waited longest without a request. A new client is
  // about to send one, and a flood of idle connections must not keep it out.
  if (full && !state_->without_request.empty()) {
    state_->without_request.front()->shared_from_this()->close();
    full = false;
  }
  if (full && state_->open.size() >= limit + kHttpRefusalsMax) {
    return state_->tls ? void() : refuse_at_once(std::move(socket));  // a 503 would take a handshake first
  }
  state_->tls.look_again();
  const auto connection = std::make_shared<Connection>(std::move(socket), state_);
  if (full) {
    connection->refuse_client(all_in_use(state_->limits.connections));
  } else {
    connection->start();
    if (state_->finishing) connection->finish();
  }
}

// Too many are being refused as well as can be. The answer fits into the socket, which is empty. A
// client whose request is still on its way may lose it, when the system resets the connection.
void Listener::refuse_at_once(boost::asio::ip::tcp::socket socket) {
  const Response refusal = state_->error_body(503, all_in_use(state_->limits.connections), "");
  boost::system::error_code error;
  socket.non_blocking(true, error);
  socket.write_some(boost::asio::buffer(encode_answer(refusal, {.keep_alive = false})), error);
  socket.shutdown(boost::asio::ip::tcp::socket::shutdown_send, error);
  error = {};
  while (!error) socket.read_some(boost::asio::buffer(state_->incoming), error);
}

void Listener::stop_accepting() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  last_handshake_.cancel();
  state_->stopped_listening();
}

void Listener::keep_no_connection() {
  state_->keeps_connections = false;
  for (Connection* connection : std::vector<Connection*>(state_->open.begin(), state_->open.end())) {
    connection->shared_from_this()->close_kept();
  }
}

// Closing a listening socket resets the connections whose handshake is under way, and those that
// are complete and not yet accepted. To lose none of them:
//   1. A filter drops the packets that ask for a new connection. (Clients repeat them, and find the
//      port closed later.) It passes all others, so handshakes under way can be completed.
//   2. Connections are accepted for limits.handshake.
//   3. The socket is closed.
void Listener::finish() {
  sock_filter drop_syn[] = {
      {.code = BPF_LD | BPF_B | BPF_ABS, .jt = 0, .jf = 0, .k = kTcpFlagsAt},
      {.code = BPF_JMP | BPF_JSET | BPF_K, .jt = 0, .jf = 1, .k = TH_SYN},
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0},            // drop it
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = kWholePacket}  // accepted connections inherit the filter
  };
  const sock_fprog program = {.len = std::size(drop_syn), .filter = drop_syn};
  ::setsockopt(acceptor_.native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  state_->finishing = true;
  for (Connection* connection : std::vector<Connection*>(state_->open.begin(), state_->open.end())) {
    connection->shared_from_this()->finish();
  }
  last_handshake_.expires_after(state_->limits.handshake);
  last_handshake_.async_wait([self = shared_from_this()](boost::system::error_code cancelled) {
    if (!cancelled) self->accept_the_last();
  });
}

void Listener::accept_the_last() {
  boost::system::error_code error;
  acceptor_.non_blocking(true, error);
  while (!error) {
    boost::asio::ip::tcp::socket socket(state_->loop);
    acceptor_.accept(socket, error);
    if (!error) take(std::move(socket));
  }
  stop_accepting();
}

void Listener::close() {
  closed_ = true;
  stop_accepting();
  // A copy, because a connection that closes removes itself from the set.
  for (Connection* connection : std::vector<Connection*>(state_->open.begin(), state_->open.end())) {
    connection->shared_from_this()->close();
  }
}

}  // namespace slipstream::http
