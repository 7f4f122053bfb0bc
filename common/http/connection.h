// One client's connection: a loop of request and answer. Everything runs on the server's thread,
// except unsent(). Pending operations keep the object alive. Once closed it is an empty shell that
// an Exchange may still hold.
//
// Phases:
//   handshake    with TLS: agrees with the client on keys; then idle
//   idle         waits for a request
//   head         reads the head of a request
//   body         reads its body
//   answering    the handler has the request; then idle again, or lingering
//   lingering    the last answer is sent; what the client still sends is dropped
//   closed       from any phase
//
// A read is pending in every phase, because only a read notices that the client has closed the
// connection while its answer is being made. There is one exception: once kHttpPipelinedBytesMax
// bytes of later requests wait, nothing more is read until the answer is sent. If the client leaves
// then, a failing write shows it, or the read after the answer.
//
// A client that has closed the connection looks like one that has only shut its sending side and
// waits for its answer (RFC 9112, 9.6), until the system of the one that closed answers a byte with
// a reset. So when the client's side ends while it is owed an answer:
//   1. Its requests that are whole are answered, and then the connection is closed.
//   2. Bytes that are to come anyway are sent ahead, one at once and more after growing pauses: of
//      the status line, or zeros that begin the size of the next chunk.
//   3. An error of the socket says that the client has left.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "common/http/answer.h"
#include "common/http/outbox.h"
#include "common/http/server_state.h"
#include "common/http/stream.h"

namespace slipstream::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Stream::Socket socket, std::shared_ptr<ServerState> state);
  ~Connection() { close(); }  // the server's state must never be left with a pointer to it

  void start();
  // Instead of start(): answers with a 503 before any request, with TLS behind the handshake.
  void refuse_client(std::string message);
  // Sends an error and closes the connection: for a request that cannot be handled.
  void refuse(int status, std::string_view message);
  void close();       // at once, without calling on_gone
  void finish();      // from now on its client has kLastRequest to send a request, and the rest of one under way
  void close_kept();  // at once, if it was kept after an answer and is idle

  // Calls of an Exchange. `request` is the number of its request. A call that comes too late finds
  // another number here and does nothing.
  void send(uint64_t request, const Response& response);
  void begin_stream(uint64_t request, const std::string& content_type, const Headers& headers);
  void write(uint64_t request, const std::string& chunk);
  void end(uint64_t request);
  void abort(uint64_t request);
  void annotate(uint64_t request, const std::string& note);
  void concerns(uint64_t request, const std::string& subject);
  void on_gone(uint64_t request, std::function<void()> gone);
  void cut_slow_reader(uint64_t request);
  void forgotten(uint64_t request);  // the last copy of the Exchange was destroyed

  std::atomic<size_t>& unsent() { return outbox_.unsent(); }
  ServerState& state() { return *state_; }

 private:
  enum class Phase { handshake, idle, head, body, answering, lingering, closed };
  enum class Answer { none, streaming, complete };
  using ErrorCode = boost::system::error_code;

  void shake_hands();
  void on_handshake(ErrorCode error);
  void await_first();
  void read();
  void on_read(ErrorCode error, std::string_view bytes);
  void parse();
  void begin_request();
  void begin_access();
  void on_head();
  void dispatch();
  void refuse_parse(ErrorCode error);
  void refuse_head(std::string_view message, int status = 400);
  void await_request();                             // puts the connection into the server's list of those without a request
  void has_request();                               // takes it out of that list
  std::chrono::milliseconds read_deadline() const;  // for a head, or for a body
  void arm(std::chrono::milliseconds wait);
  void on_deadline();

  void put(std::string_view bytes);  // of the answer
  void complete();
  void log_access(Access::End end);
  void on_outbox(Outbox::End end);
  void next_request();
  bool count_body();  // false: all bodies together are too many bytes
  void forget_body();
  void shrink();  // gives back the memory of the last request
  void linger();
  void client_went();
  void client_sends_no_more();
  void await_reset();
  void probe();
  void put_head(std::string_view head);
  bool current(uint64_t request, Answer answer) const {
    return phase_ == Phase::answering && request == request_ && answer == answer_;
  }

  const std::shared_ptr<ServerState> state_;  // first member, destroyed last: it owns the loop that the socket uses
  Stream stream_;
  boost::asio::steady_timer timer_;  // deadline of handshake, idle, head, body and lingering; time of the next probe()
  Phase phase_ = Phase::idle;
  std::string refusal_;                                    // of the client, behind the handshake; empty: it is not refused
  bool kept_ = false;                                      // it had an answer, and waits for another request
  bool counted_ = false;                                   // in the server's counter of connections
  std::optional<std::list<Connection*>::iterator> place_;  // in the server's without_request

  // The request.
  bool reading_ = false;
  bool half_closed_ = false;  // the client sends nothing more
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  size_t body_counted_ = 0;    // bytes of its body, in the server's receiving_bytes
  uint64_t request_ = 0;       // its number on this connection
  uint64_t gone_request_ = 0;  // the request whose client left before the answer ended; 0: none

  // The answer.
  AnswerForm form_;
  Answer answer_ = Answer::none;
  size_t sent_ahead_ = 0;       // bytes of its next part that probe() has sent: of the status line, or of a chunk's size
  std::function<void()> gone_;  // called if the client leaves before the answer ended
  Outbox outbox_;
  const std::string client_;      // its IP address
  std::optional<Access> access_;  // of the request under way
  std::chrono::steady_clock::time_point head_read_;
};

}  // namespace slipstream::http
