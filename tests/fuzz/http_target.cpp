#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "common/base/check.h"
#include "common/http/server.h"
#include "tests/fuzz/target.h"

namespace slipstream::fuzz {
namespace {

http::Response told(int status, std::string_view message, std::string_view path) {
  return {.status = status, .content_type = "text/plain", .body = std::string(message) + std::string(path)};
}

// A whole answer, or a stream in two pieces.
void answer(http::Request request, http::Exchange exchange) {
  if (request.path != "/stream") return exchange.send({.body = request.path + request.query + request.body});
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  exchange.write("data: two\n\n");
  exchange.end();
}

// Sends the input, ends sending, and reads until the server closes.
void ask(uint16_t port, std::string_view input) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const timeval patience{20, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const linger at_once{1, 0};  // no port is left waiting
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "the server takes no connection");
  (void)!::send(socket, input.data(), input.size(), MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  char bytes[4096];
  std::string begin;
  for (;;) {
    const ssize_t size = ::recv(socket, bytes, sizeof bytes, 0);
    CHECK(size >= 0 || errno == ECONNRESET, "the server neither answers nor closes");
    if (size <= 0) break;
    if (begin.size() < 9) begin.append(bytes, static_cast<size_t>(size));
  }
  CHECK(begin.empty() || begin.starts_with("HTTP/1.1 "), "the answer is not HTTP: {}", begin.substr(0, 40));
  ::close(socket);
}

}  // namespace

Target http_target() {
  const auto server = std::make_shared<std::unique_ptr<http::Server>>();
  return {
      .name = "http",
      .corpus =
          {"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
           "POST /x?a=b HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
           "POST /stream HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: t\r\n\r\n",
           "GET /a HTTP/1.1\r\nHost: h\r\n\r\nHEAD /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
           "POST /c HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
           "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
           "OPTIONS /v1 HTTP/1.1\r\nOrigin: http://a\r\nAccess-Control-Request-Method: POST\r\nX-Request-Id: 1\r\n\r\n"},
      .words = {"\r\n",
                "\r\n\r\n",
                ":",
                " ",
                "Content-Length: ",
                "Transfer-Encoding: chunked",
                "Connection: ",
                "Upgrade: ",
                "keep-alive",
                "close",
                "HTTP/1.1",
                "HTTP/1.0",
                "0",
                "ffffffffffffffff",
                "-1",
                "4294967296",
                ";",
                ",",
                "\t",
                std::string(1, '\0'),
                "\xff",
                "Expect: 100-continue",
                "gzip",
                "*",
                "%00",
                "../"},
      .run = [server](std::string_view input) {
        if (*server == nullptr) {
          auto made = http::Server::listen("127.0.0.1", 0, answer, told, {.cors = {.origins = {"http://a"}}});
          CHECK(made.has_value(), "{}", made.error().message);
          *server = std::make_unique<http::Server>(*std::move(made));
        }
        ask((*server)->port(), input);
      }};
}

}  // namespace slipstream::fuzz
