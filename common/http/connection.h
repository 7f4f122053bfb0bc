// One client's connection: a loop of request and answer. All on the server's thread, except
// unsent(). The operations it waits for keep it alive; once closed it is an empty shell that an
// Exchange may still hold.
//
// A read is under way in every phase: that is how a client's leaving is seen while an answer is
// pending. The exception: once kHttpPipelinedBytesMax bytes of later requests wait, no more are
// read until the answer is out. A client that leaves then is seen when a write fails, or after the
// answer.
//
//   idle -> head -> body -> answering -> idle ... -> lingering (our last words are out, the client's rest is thrown away) ->
//   closed
#pragma once

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "common/http/answer.h"
#include "common/http/outbox.h"
#include "common/http/server_state.h"

namespace slipstream::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<ServerState> state);
  ~Connection() { close(); }  // the server's state must never be left with a pointer to it

  void start();
  void refuse(int status,
              std::string_view message);  // instead of start(), or of a request that cannot be taken: answers, closes
  void close();                           // at once; nobody is told
  void finish();                          // unless a request comes very soon: it may be on its way

  // From an Exchange. `request` is the number of the request that is meant: a late call finds
  // another one here, and does nothing.
  void send(uint64_t request, const Response& response);
  void begin_stream(uint64_t request, const std::string& content_type, const Headers& headers);
  void write(uint64_t request, const std::string& chunk);
  void end(uint64_t request);
  void abort(uint64_t request);
  void on_gone(uint64_t request, std::function<void()> gone);
  void cut_slow_reader(uint64_t request);
  void forgotten(uint64_t request);  // the last Exchange died

  std::atomic<size_t>& unsent() { return outbox_.unsent(); }
  ServerState& state() { return *state_; }

 private:
  enum class Phase { idle, head, body, answering, lingering, closed };
  enum class Answer { none, streaming, complete };
  using ErrorCode = boost::system::error_code;

  void read();
  void on_read(ErrorCode error, size_t bytes);
  void parse();
  void begin_request();
  void on_head();
  void dispatch();
  void refuse_parse(ErrorCode error);
  void await_request();  // from now on it is among those without a request
  void has_request();
  void arm(std::chrono::milliseconds wait);
  void on_deadline();

  void complete();
  void on_outbox(Outbox::End end);
  void next_request();
  void linger();
  void client_went();
  bool current(uint64_t request, Answer answer) const {
    return phase_ == Phase::answering && request == request_ && answer == answer_;
  }

  const std::shared_ptr<ServerState> state_;  // first in, last out: it owns the loop that the socket belongs to
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;  // of the read side: idle, read, linger
  Phase phase_ = Phase::idle;
  bool counted_ = false;                                   // among the server's connections
  std::optional<std::list<Connection*>::iterator> place_;  // in the server's without_request

  // The request.
  std::array<char, kReadBytes> incoming_;
  bool reading_ = false;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  uint64_t request_ = 0;       // its number on this connection
  uint64_t gone_request_ = 0;  // the one whose client went, 0: none

  // The answer.
  AnswerForm form_;
  Answer answer_ = Answer::none;
  std::function<void()> gone_;
  Outbox outbox_;
};

}  // namespace slipstream::http
