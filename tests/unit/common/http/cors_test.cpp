// Pages of other origins: which may call, and what their browsers are told.
#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpCors : public EchoServer {
 protected:
  static constexpr std::string_view kPreflight =
      "OPTIONS /v1/x HTTP/1.1\r\nHost: h\r\nAccess-Control-Request-Method: POST\r\n"
      "Access-Control-Request-Headers: authorization,content-type\r\nOrigin: ";
  std::string preflight(std::string_view origin) {
    auto wire = client();
    wire.send(fmt::format("{}{}\r\n\r\n", kPreflight, origin));
    return wire.until("\r\n\r\n");
  }
  std::string get(std::string_view origin) {
    auto wire = client();
    wire.send(fmt::format("GET /x HTTP/1.1\r\nHost: h\r\nOrigin: {}\r\n\r\n", origin));
    return wire.answer();
  }
};

TEST_F(HttpCors, IsOffUnlessAnOriginIsNamed) {
  start();
  EXPECT_THAT(get("https://a.example"), Not(HasSubstr("Access-Control")));
  EXPECT_THAT(preflight("https://a.example"), Not(HasSubstr("Access-Control")));
}

TEST_F(HttpCors, LetsTheNamedOriginInAndNoOther) {
  cors_ = {{"https://a.example"}};
  start();
  EXPECT_THAT(preflight("https://a.example"),
              AllOf(StartsWith("HTTP/1.1 204"), HasSubstr("Access-Control-Allow-Origin: https://a.example\r\n"),
                    HasSubstr("Access-Control-Allow-Headers: authorization,content-type\r\n"),
                    HasSubstr("Access-Control-Allow-Methods: GET, POST\r\n")));
  EXPECT_THAT(get("https://a.example"),
              AllOf(HasSubstr("Access-Control-Allow-Origin: https://a.example\r\n"), HasSubstr("Vary: Origin\r\n")));
  for (const auto* other : {"https://b.example", "https://a.example.evil", "null"}) {
    EXPECT_THAT(get(other), Not(HasSubstr("Access-Control"))) << other;
    EXPECT_THAT(preflight(other), Not(HasSubstr("Access-Control"))) << other;
  }
}

TEST_F(HttpCors, LetsEveryPageInByAStar) {
  cors_ = {{"*"}};
  start();
  EXPECT_THAT(get("https://b.example"), HasSubstr("Access-Control-Allow-Origin: https://b.example\r\n"));
}

TEST_F(HttpCors, HoldsForStreams) {
  cors_ = {{"*"}};
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\nOrigin: https://a.example\r\n\r\n");
  auto exchange = held();
  exchange.begin_stream("text/event-stream");
  EXPECT_THAT(wire.until("\r\n\r\n"), HasSubstr("Access-Control-Allow-Origin: https://a.example\r\n"));
  exchange.end();
}

}  // namespace
}  // namespace slipstream::http
