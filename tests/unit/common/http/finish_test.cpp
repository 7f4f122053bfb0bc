// Requests that are half sent when the server finishes.
#include <thread>

#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpFinish : public EchoServer {
 protected:
  // Finishes while a client has sent this. A server that waited for kReadDeadline would be cut.
  std::string answer_to_half(std::string_view half) {
    start();
    auto wire = client();
    wire.send(half);
    fence();
    std::string answer;
    std::jthread reads([&] { answer = wire.all(), wire.close(); });
    const auto began = std::chrono::steady_clock::now();
    server_->finish(kReadDeadline);
    EXPECT_LT(std::chrono::steady_clock::now() - began, kReadDeadline / 3);
    reads.join();
    return answer;
  }
};

TEST_F(HttpFinish, AnswersARequestWhoseHeadDoesNotComeWhole) {
  EXPECT_THAT(
      answer_to_half("GET /x HTTP/1.1\r\nHost: h"),
      AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("this server is stopping: the request did not arrive within 1000 ms")));
}

TEST_F(HttpFinish, AnswersARequestWhoseBodyDoesNotComeWhole) {
  EXPECT_THAT(answer_to_half("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"),
              AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("Connection: close"), HasSubstr("this server is stopping")));
}

TEST_F(HttpFinish, TakesTheRestOfARequestThatComesSoon) {
  start();
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab");
  fence();
  std::jthread finishes([this] { server_->finish(kReadDeadline); });
  wire.send("cd");
  EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("abcd")));
}

}  // namespace
}  // namespace slipstream::http
