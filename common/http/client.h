// A blocking HTTP/1.1 client for tools and tests: one connection, kept alive; opened anew when the
// server had closed it. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream::http {

struct Reply {
  int status = 0;
  std::string body;
};

class Client {
 public:
  // Connects at first use. timeout: of connecting, and of each wait for bytes of the answer, not of
  // a whole stream. Errors of the calls: nobody listens, the connection broke, the timeout passed,
  // or the answer is not HTTP.
  Client(std::string host, uint16_t port, std::chrono::milliseconds timeout);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Result<Reply> get(std::string_view path);
  Result<Reply> post(std::string_view path, std::string_view json);
  // Server-sent events: calls `event` with the data of each until it returns false or the stream
  // ends. The reply's body is empty unless the status is not 200. A stream that is cut before its
  // end is an error.
  Result<Reply> post_stream(std::string_view path, std::string_view json,
                            const std::function<bool(std::string_view data)>& event);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstream::http
