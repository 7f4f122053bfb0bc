// A small HTTP/1.1 server on a thread of its own, in clear or with TLS, over Boost.Beast, for APIs,
// server-sent events and metrics pages. It keeps connections alive and answers pipelined requests
// one after the other. It limits header, body, connections and unsent bytes, and closes slow
// readers, slow writers and idle connections at a deadline (limits.h).
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
#include "common/http/access.h"
#include "common/http/cors.h"
#include "common/http/headers.h"
#include "common/http/limits.h"
#include "common/http/tls.h"

namespace slipstream::http {

struct Request {
  std::string id;      // the client's X-Request-Id, or one made here; every answer carries it
  std::string client;  // its IP address
  std::string method;  // "GET"
  std::string path;    // "/v1/models", without the query, as sent: nothing is percent-decoded
  std::string query;
  std::string content_type;
  std::string content_encoding;  // empty: none
  std::string host;              // as the client calls this server, such as "localhost:8080"; empty: it is of HTTP/1.0
  std::string traceparent;       // of W3C Trace Context; empty: none
  std::string authorization;     // "Bearer KEY", also if the client sent `x-api-key: KEY` in its place; empty: none
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers = {};  // in addition to content type and length
};

// The answer to one request, which the handler may give now or later. Thread-safe and copyable.
//
//   - It stays valid after the client or the server is gone; calls then do nothing.
//   - Calls out of order do nothing (a second answer, a write() without begin_stream()).
//   - If the last copy is destroyed without an answer, the client gets a 500. In the middle of a
//     stream, the connection is cut.
class Exchange {
 public:
  // Either a whole answer:
  void send(Response response);
  // Or a stream with status 200: begin_stream(), write() as often as needed, then end() or abort().
  // A client that leaves more than kHttpUnsentBytesMax bytes unread is cut.
  void begin_stream(std::string content_type, Headers headers = {});
  void write(std::string chunk);  // sent at once
  void end();
  void abort();  // cuts the connection, so that the client sees that the stream failed

  // What the access log shall tell of this request; the last call before the answer's end counts.
  void annotate(std::string note);
  // What the request is called in the logs of other parts and processes, for the access log.
  void concerns(std::string subject);

  // Calls `gone` once, on the server's thread, if the client leaves or is cut as a slow reader
  // before the answer ended. A client that shuts its sending side only has not left. Not called
  // when the server itself is destroyed.
  void on_gone(std::function<void()> gone);

  struct State;
  explicit Exchange(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// Takes one request. Called on the server's thread; must not block.
using Handler = std::function<void(Request, Exchange)>;
// Makes the answer to an error that the server itself finds (400, 408, 413, 417, 431, 500, 503), so
// that an API's errors have the same shape everywhere. path: of the request; empty if it was not
// read. Called on the server's thread.
using ErrorBody = std::function<Response(int status, std::string_view message, std::string_view path)>;

struct ServerCounters {
  uint64_t connections = 0;          // open now
  uint64_t connections_refused = 0;  // over the limit
  uint64_t requests = 0;             // handed to the handler
  uint64_t bad_requests = 0;         // malformed, too slow, or over a limit
  uint64_t clients_gone = 0;         // before the answer ended
  uint64_t slow_readers = 0;         // cut by us: too many unsent bytes, or stalled
};

struct ServerOptions {
  ServerLimits limits = {};
  Tls tls = {};                    // none: HTTP in clear
  AccessLog access_log = nullptr;  // null: none
  Cors cors = {};                  // none: no page of another origin
};

class Server {
 public:
  // address: an IP address such as "127.0.0.1". port 0: any free one. Whether an address beyond
  // loopback is acceptable is for the caller to decide. Errors: the port is in use, or the address
  // is not one of this host.
  static Result<Server> listen(const std::string& address, uint16_t port, Handler handler, ErrorBody error_body,
                               const ServerOptions& options = {});
  // Closes all connections and joins the thread. REQUIRES: the caller is not the handler.
  ~Server();
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  // From now on a connection is closed after one answer, and those that wait for another request
  // are closed at once: their clients ask again over a new one, and may find another server.
  // Thread-safe.
  void keep_no_connection();
  // Accepts no more connections after those whose handshake is under way, closes those whose
  // request does not arrive soon (kLastRequest), and lets the answers under way end. Returns when
  // all are closed, or after `wait`.
  void finish(std::chrono::milliseconds wait);
  uint16_t port() const;
  ServerCounters counters() const;  // thread-safe

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstream::http
