// A blocking HTTP/1.1 client for tools and tests. It keeps one connection alive and opens a new one
// when the server has closed it. Not thread-safe, but for cancel().
//
//   http::Client client("127.0.0.1", 8080, std::chrono::seconds(30));
//   Result<http::Reply> reply = client.post("/v1/chat/completions", json);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream::http {

// How a client of an HTTPS server knows that it is the right one.
struct ClientTls {
  std::string ca_file;  // PEM, of the authorities that are trusted; empty: the system's
  bool any = false;     // take any certificate: for a server that this process has started itself
};

struct Reply {
  int status = 0;
  std::string body;
  std::string retry_after;  // the header Retry-After, as the server wrote it; "": none
};

class Client {
 public:
  // host: an IP address (IPv6 without brackets) or a name. Connects at the first call. timeout: for
  // connecting, for sending, and for each wait for bytes of the answer; a whole stream may take
  // longer. The calls below return an error if no process listens on the port, the connection
  // breaks, the timeout passes, or the answer is not HTTP. An answer with a status of 400 or above
  // is not an error.
  Client(std::string host, uint16_t port, std::chrono::milliseconds timeout);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  // Speaks HTTPS from the first call on. Error: the file of authorities cannot be read.
  Result<void> use_tls(const ClientTls& tls);
  // For answers of strangers: from now on one that is longer, or takes longer in all, is an error.
  void limit_answers(size_t bytes, std::chrono::milliseconds time);
  void set_api_key(std::string key);  // sent from now on as `Authorization: Bearer KEY`; empty: none
  Result<Reply> get(std::string_view path);
  Result<Reply> post(std::string_view path, std::string_view json);
  // Reads an answer of server-sent events: calls `event` with the data of each, until it returns
  // false or the stream ends. If the status is 200, the reply's body is empty; otherwise the body
  // is as for post(). A stream that breaks off before its end is an error.
  Result<Reply> post_stream(std::string_view path, std::string_view json,
                            const std::function<bool(std::string_view data)>& event);
  // Thread-safe. Ends the call that runs, and each later one, with an error.
  void cancel();
  bool cancelled() const;  // as cancel(), from any thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstream::http
