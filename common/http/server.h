// A small HTTP/1.1 server on a thread of its own, over Boost.Beast, for APIs, server-sent events
// and metrics pages. Keep-alive; pipelined requests are answered one after the other; limits of
// limits.h: header, body, connections, unsent bytes; slow readers, slow writers and idle
// connections are closed at a deadline.
//
//   auto server = http::Server::listen("127.0.0.1", 8080, handle, error_body);
//   void handle(http::Request request, http::Exchange exchange) { exchange.send({.body = "{}"}); }
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/http/limits.h"

namespace slipstream::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  // "GET"
  std::string path;    // "/v1/models", without the query, as sent: nothing is percent-decoded
  std::string query;
  std::string content_type;
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers = {};  // besides content type and length
};

// One answer in the making. Thread-safe, copyable, and valid after client and server are gone:
// calls then do nothing, as do calls out of order (a second answer, a piece without begin_stream).
// The last copy to die without an answer sends a 500; in the middle of a stream it cuts the
// connection.
class Exchange {
 public:
  void send(Response response);                                       // a whole answer
  void begin_stream(std::string content_type, Headers headers = {});  // or: 200, chunked ...
  void write(std::string chunk);                                      // ... pieces, sent at once; see kHttpUnsentBytesMax ...
  void end();                                                         // ... and the end
  void abort();                                                       // cuts the connection: a stream that failed midway
  // Called once, on the server's thread, when the client goes, or is cut for reading too slowly,
  // before the answer ended. Not called when the server itself is destroyed.
  void on_gone(std::function<void()> gone);

  struct State;
  explicit Exchange(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

using Handler = std::function<void(Request, Exchange)>;  // on the server's thread; must not block
// The body of an error that the server itself finds (400, 408, 413, 431, 500, 503), so that an API
// keeps its own shape on every path. On the server's thread.
using ErrorBody = std::function<Response(int status, std::string_view message)>;

struct ServerCounters {
  uint64_t connections = 0;          // open now
  uint64_t connections_refused = 0;  // over the limit
  uint64_t requests = 0;             // handed to the handler
  uint64_t bad_requests = 0;         // malformed, too slow, or over a limit
  uint64_t clients_gone = 0;         // before the answer ended
  uint64_t slow_readers = 0;         // of those, cut by us: unsent bytes over the limit, or stalled
};

class Server {
 public:
  // address "127.0.0.1"; port 0: any free one. Beyond loopback is the caller's decision. Errors:
  // port in use, address unknown.
  static Result<Server> listen(const std::string& address, uint16_t port, Handler handler, ErrorBody error_body,
                               const ServerLimits& limits = {});
  ~Server();  // closes all connections, joins the thread; not from the handler
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  // Takes no more connections and closes those that are idle, so that answers under way can end.
  // Returns when they have, or after that time.
  void finish(std::chrono::milliseconds wait);
  uint16_t port() const;
  ServerCounters counters() const;  // thread-safe

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstream::http
